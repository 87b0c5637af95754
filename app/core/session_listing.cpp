// SPDX-License-Identifier: GPL-3.0-or-later
// What a session shows of sides that are set against nothing.
#include "app/core/session_core.h"
#include "app/core/side_listing.h"

namespace forkpoint {

/// The tensors of the side that is alone; nothing to set them against.
void Session::Core::listTheOnlySide()
{
    if (bothOpen() || isOpen(0) == isOpen(1))
        return;
    const std::size_t side = isOpen(0) ? 0 : 1;
    const bool isComing = m_sides[1 - side].phase == Phase::Opening;
    listSides(m_userStep,
              std::string(side == 0 ? "B" : "A") + (isComing ? " is being opened" : " is not open"),
              [this, side](const Error &error) {
                  if (isOpen(side))
                      takeUnreadable(side, error);
              });
}

/// What the open sides hold, which is not compared.
void Session::Core::listSides(std::optional<Step> step, const std::string &reason,
                              std::function<void(const Error &)> failed)
{
    Job job;
    job.title = "Listing " + m_sides[isOpen(0) ? 0 : 1].path;
    job.tag = "list";
    job.lane = Lane::Interactive;
    job.batch = listSidesBatch(
        inputs(), step, reason,
        [this](std::optional<Step> shown, std::shared_ptr<const CheckpointComparison> listing) {
            showStep(shown, std::move(listing));
        });
    job.ended = [failed = std::move(failed)](JobEnd end, const Error *error) {
        if (end == JobEnd::Failed)
            failed(*error);
    };
    add(std::move(job), JobWatch::Kind::Minor);
}

/// The side that is alone: of a series one step does not open, else there is nothing to show.
void Session::Core::takeUnreadable(std::size_t side, const Error &error)
{
    if (m_sides[side].run->isSeries())
        showStep(m_userStep, notComparable(error.message()));
    else
        setSide(side, {Phase::Failed, m_sides[side].path, {}, nullptr, error, nullptr});
}

} // namespace forkpoint
