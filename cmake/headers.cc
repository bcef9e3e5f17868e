// Empty: a target that only precompiles headers (IobenchTarget.cmake) needs a source.
