// SPDX-License-Identifier: GPL-3.0-or-later
// Event of TensorFlow's event.proto, by field number.
#include "loaders/metrics/tensorboard_event.h"

#include "loaders/metrics/proto_reader.h"
#include "loaders/metrics/record_log.h"

#include <bit>

namespace forkpoint {

namespace {

namespace event {
enum Field : std::uint32_t { WallTime = 1, Step = 2, FileVersion = 3, Summary = 5, SessionLog = 7 };
}

std::uint64_t firstVarint(ByteView message, std::uint32_t number)
{
    ProtoReader fields(message);
    while (const auto field = fields.next()) {
        if (field->number == number && field->wire == ProtoField::Wire::Varint)
            return field->value;
    }
    return 0;
}

} // namespace

TensorBoardEvent parseTensorBoardEvent(ByteView record)
{
    TensorBoardEvent result;
    ProtoReader fields(record);
    while (const auto field = fields.next()) {
        if (field->number == event::WallTime && field->wire == ProtoField::Wire::Fixed64)
            result.wallTime = std::bit_cast<double>(field->value);
        else if (field->number == event::Step && field->wire == ProtoField::Wire::Varint)
            result.step = std::int64_t(field->value);
        else if (field->isBytes(event::FileVersion))
            result.fileVersion = field->text();
        else if (field->isBytes(event::SessionLog))
            result.session = firstVarint(field->bytes, 1);
        else if (field->isBytes(event::Summary))
            result.summary = field->bytes;
    }
    result.sound = !fields.malformed();
    result.badPlace = fields.position();
    return result;
}

std::optional<TensorBoardEvent> firstTensorBoardEvent(const ByteSource &source,
                                                      std::vector<std::byte> &bytes)
{
    TfRecordLog log(source);
    const auto record = log.next();
    if (!record.ok() || !*record)
        return std::nullopt;
    bytes.assign((*record)->data.begin(), (*record)->data.end());
    const TensorBoardEvent parsed = parseTensorBoardEvent(bytes);
    return parsed.sound ? std::optional(parsed) : std::nullopt;
}

} // namespace forkpoint
