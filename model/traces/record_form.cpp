// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/record_form.h"

namespace forkpoint {

TraceRecord toRecord(const FormedRecord &formed)
{
    TraceRecord record = formed.form->record;
    record.place = formed.place;
    record.iteration = formed.iteration;
    record.sequence = formed.sequence;
    record.call = formed.call;
    for (const RecordForm::Digest &digest : formed.form->digests)
        (digest.isOutput ? record.outputs : record.inputs)[digest.observation].digest =
            formed.digests.substr(digest.begin, digest.size);
    return record;
}

Result<bool> readNext(TraceCursor &cursor, FormedCursor *forms, FoundRecord &into)
{
    into.formed.form = nullptr;
    if (forms) {
        FP_TRY(const bool isFormed, forms->nextFormed(into.formed));
        if (isFormed)
            return true;
        into.formed.form = nullptr;
    }
    FP_TRY(into.whole, cursor.next());
    return into.whole.has_value();
}

} // namespace forkpoint
