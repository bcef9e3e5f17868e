// Empty: its target compiles the headers that all libraries share (IobenchTarget.cmake).
