# Tests that are scripts: each needs Python 3 and nothing else unless it says so.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
