// SPDX-License-Identifier: GPL-3.0-or-later
// forkpoint-h5worker: looks through one HDF5 file for its parent, and dies of it if need be. Talks
// over standard input as loaders/hdf5/hdf5_protocol.h says; opens no file.
#include "app/h5worker/hdf5_driver.h"
#include "app/h5worker/hdf5_walk.h"
#include "app/h5worker/worker_link.h"
#include "app/h5worker/worker_sandbox.h"

int main()
{
    using namespace forkpoint;
    closeInherited();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
    WorkerLink link;
    const Hdf5Open request = link.receiveOpen();
    enterSandbox(request.memoryBytes, request.cpuSeconds);

    const auto file = openParentFile(link, request.fileBytes);
    if (!file.ok()) {
        link.tell(Hdf5Message::Refused, file.error().text);
        return 0;
    }
    tellFile(link, *file);
    link.tell(Hdf5Message::End, {});
    return 0;
}
