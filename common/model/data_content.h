// Derived properties of DataContent, which depend on several of its fields.
#ifndef COMMON_MODEL_DATA_CONTENT_H_
#define COMMON_MODEL_DATA_CONTENT_H_

#include "iobench/v1/plan.pb.h"

namespace iobench {

// Data is verified in one of two ways: sectors that identify their writer, or a byte pattern.
inline bool HasSectors(const v1::DataContent& data) {
  return data.verify() && data.kind() != v1::DataContent::PATTERN;
}
inline bool ChecksPattern(const v1::DataContent& data) {
  return data.verify() && data.kind() == v1::DataContent::PATTERN;
}

}  // namespace iobench

#endif  // COMMON_MODEL_DATA_CONTENT_H_
