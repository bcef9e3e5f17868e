// Which mount a path is on, from names alone: asking the file system itself might hang.
#ifndef COORDINATOR_FILES_MOUNT_POINTS_H_
#define COORDINATOR_FILES_MOUNT_POINTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// The mount points in the text of /proc/self/mountinfo.
std::vector<std::string> MountPointsIn(std::string_view mountinfo);

// The longest of them that is `path` or above it; "/" if there is none. `path`: absolute; `.` and `..` are taken out by
// their names, and links are not followed.
std::string MountPointOf(const std::vector<std::string>& mount_points, const std::string& path);

}  // namespace iobench

#endif  // COORDINATOR_FILES_MOUNT_POINTS_H_
