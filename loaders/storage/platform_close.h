// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace forkpoint {

/// Has a descriptor closed by a thread that nobody waits for: closing a file of a mount whose server is
/// gone does not come back, and who lets go of a file may hold a lock, or be about to quit. Where many
/// wait to be closed and the thread gets on, the caller closes it.
void closeAside(int descriptor);

} // namespace forkpoint
