#include "worker/loop/hooked_loop.h"

namespace iobench {

template LoopEnd RunLoopWithHook<TscClock>(LaneContext& lane, AnyOp do_op);
template LoopEnd RunLoopWithHook<MonotonicClock>(LaneContext& lane, AnyOp do_op);

}  // namespace iobench
