# Copyright the cluster-iobench authors. SPDX-License-Identifier: Apache-2.0
#
# A Spack recipe: copy this file to var/spack/repos/builtin/packages/cluster-iobench/ or to a repository of your own.
from spack.package import *


class ClusterIobench(CMakePackage):
    """Distributed throughput tester for NFS and cluster file systems."""

    homepage = "https://example.com/cluster-iobench"
    git = "https://example.com/cluster-iobench.git"

    version("main", branch="main")

    variant("mpi", default=True, description="Build the MPI transport")
    variant("libnfs", default=False, description="Build the libnfs engine")
    variant("page", default=False, description="Bundle the web page (needs Node.js)")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("node-js@18:", type="build", when="+page")
    depends_on("npm", type="build", when="+page")
    depends_on("grpc@1.51:")
    depends_on("protobuf@3.21:")
    depends_on("abseil-cpp@20220623:")
    depends_on("spdlog@1.10:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("yaml-cpp@0.7:")
    depends_on("xxhash")
    depends_on("liburing@2.3:")
    depends_on("openssl")
    depends_on("zlib-api")
    depends_on("ncurses")
    depends_on("libxlsxwriter")
    depends_on("libzip")
    depends_on("openmpi@4.1:", when="+mpi")
    depends_on("libnfs@4.0:", when="+libnfs")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("IOBENCH_TESTS", False),
            self.define_from_variant("IOBENCH_MPI", "mpi"),
            self.define_from_variant("IOBENCH_LIBNFS", "libnfs"),
            self.define_from_variant("IOBENCH_PAGE", "page"),
        ]
