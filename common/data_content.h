// What DataContent means where several of its fields decide.
#ifndef COMMON_DATA_CONTENT_H_
#define COMMON_DATA_CONTENT_H_

#include "iobench/v1/plan.pb.h"

namespace iobench {

// Every sector says who wrote it. What is verified otherwise is a pattern, byte by byte.
inline bool HasSectors(const v1::DataContent& data) {
  return data.verify() && data.kind() != v1::DataContent::PATTERN;
}
inline bool ChecksPattern(const v1::DataContent& data) {
  return data.verify() && data.kind() == v1::DataContent::PATTERN;
}

}  // namespace iobench

#endif  // COMMON_DATA_CONTENT_H_
