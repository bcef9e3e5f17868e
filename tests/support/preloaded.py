"""Libraries that are preloaded into the program."""
import pathlib
import subprocess


def build(source, directory):
    """Compiles a C file as a library into this directory, and returns its path."""
    library = directory / f"{source.stem}.so"
    subprocess.run(["cc", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", f"-I{pathlib.Path(__file__).parent}", "-o", library, source,
                    "-ldl"], check=True)
    return library
