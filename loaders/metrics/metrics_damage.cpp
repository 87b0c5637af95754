// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_damage.h"

namespace forkpoint {

void describeDamage(const RecordLog &log, MetricsTable &table, const std::string &file)
{
    for (const LogDamage &damage : log.damage()) {
        const bool torn = damage.kind == LogDamage::Kind::Torn;
        const std::string byte = "byte " + std::to_string(damage.offset);
        table.addGap(torn ? Severity::Note : Severity::Error, torn ? "torn-tail" : "damaged",
                     file.empty() ? byte : file + ": " + byte, damage.text);
    }
    if (log.damageCount() > log.damage().size())
        table.addGap(Severity::Error, "damaged", file,
                     std::to_string(log.damageCount()) + " places are damaged in all");
}

} // namespace forkpoint
