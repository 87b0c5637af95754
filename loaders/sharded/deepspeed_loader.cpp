// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/deepspeed_loader.h"

#include "loaders/elements/extent_reader.h"
#include "loaders/elements/replica_check.h"
#include "loaders/elements/tensor_joiner.h"
#include "loaders/sharded/deepspeed_files.h"
#include "loaders/sharded/rank_part.h"
#include "loaders/sharded/zero_partitions.h"
#include "model/bytes.h"

#include <algorithm>
#include <array>
#include <set>

namespace forkpoint {

namespace {

constexpr std::string_view Shapes = "param_shapes", FrozenShapes = "frozen_param_shapes",
                           FrozenParts = "frozen_param_fragments";

KeyPath pathOf(std::string_view first, const std::string &name)
{
    return {{Key::of(std::string(first)), Key::of(name)}};
}

/// The files of one model-parallel rank, by data-parallel rank.
struct ModelRank
{
    std::map<std::int64_t, RankPart> model, optimizer;
    bool isByDataRank = false; ///< the model's files, which stage 3 writes so
};

/// A number of ranks that a file states.
std::optional<std::int64_t> positive(const RankPart &part, const char *name)
{
    const Value *value = part.value({{Key::of(name)}});
    const auto *number = value ? std::get_if<std::int64_t>(&value->data) : nullptr;
    return number && *number > 0 && *number < 1'000'000 ? std::optional(*number) : std::nullopt;
}

/// Lists what one model-parallel rank saved, all its data-parallel ranks together.
class RankAssembler
{
public:
    RankAssembler(ModelRank rank, CheckpointBuilder &builder)
        : m_rank(std::move(rank)),
          m_builder(builder)
    {
    }

    void assemble()
    {
        if (m_rank.model.empty())
            return tellMissing("no file of model states is here");
        const RankPart &first = m_rank.model.begin()->second;
        m_frozen = readZeroShapes(first, {{Key::of(std::string(FrozenShapes))}});
        checkModelFiles();
        addPartitions(readZeroGroups(first, Shapes));
        addModel();
        addFrozen();
        m_joiner.finish(m_builder);
        addValues();
    }

private:
    void tellMissing(std::string text)
    {
        m_builder.addDiagnostic({Severity::Error, "incomplete", {}, {}, std::move(text)});
        m_builder.setIncomplete();
    }

    /// Under stage 3 every data-parallel rank writes one, and no name says so otherwise.
    void checkModelFiles()
    {
        const auto &files = m_rank.model;
        const std::int64_t ranks = positive(files.begin()->second, "dp_world_size").value_or(1);
        if (m_rank.isByDataRank && std::int64_t(files.size()) < ranks)
            tellMissing("model states of " + std::to_string(files.size()) + " of "
                        + std::to_string(ranks) + " ranks are here");
    }

    /// How many optimizer files there should be: partition_count, one for each group or for all.
    std::int64_t partitionCount() const
    {
        std::int64_t count = m_rank.optimizer.empty() ? 0 : m_rank.optimizer.rbegin()->first + 1;
        for (const auto &[rank, part] : m_rank.optimizer) {
            for (const ValueRef &value : part.values) {
                const auto *number = std::get_if<std::int64_t>(&value.value.data);
                if (number && value.path.keys.size() > 1
                    && value.path.keys[1].text == "partition_count" && *number < 1'000'000)
                    count = std::max(count, *number);
            }
        }
        return count;
    }

    void addPartitions(ZeroGroups groups)
    {
        const bool hasGroups = std::any_of(groups.begin(), groups.end(),
                                           [](const auto &group) { return !group.empty(); });
        if (m_rank.optimizer.empty() && hasGroups) // ZeRO alone writes the shapes of its groups
            tellMissing("no file of optimizer states is here");
        if (m_rank.optimizer.empty())
            return;
        const std::int64_t count = partitionCount();
        std::vector<const RankPart *> parts(std::size_t(count), nullptr);
        for (const auto &[rank, part] : m_rank.optimizer)
            parts[std::size_t(rank)] = &part;
        if (std::int64_t(m_rank.optimizer.size()) < count) {
            tellMissing("optimizer states of " + std::to_string(m_rank.optimizer.size()) + " of "
                        + std::to_string(count) + " ranks are here");
        }
        const ZeroPartitions partitions(std::move(parts), std::move(groups));
        m_isStage3 = partitions.isStage3();
        for (const auto &group : partitions.groups()) {
            for (const ZeroParameter &parameter : group)
                m_trained.insert(parameter.name);
        }
        for (const std::string &quantity : partitions.quantities())
            addQuantity(partitions, quantity);
    }

    void addQuantity(const ZeroPartitions &partitions, const std::string &quantity)
    {
        for (std::size_t group = 0; group < partitions.groups().size(); ++group) {
            const TensorRef *scalar = partitions.scalar(quantity, group);
            const auto number = scalar ? scalarOf(*scalar) : std::nullopt;
            for (std::size_t i = 0; i < partitions.groups()[group].size(); ++i) {
                const std::string &name = partitions.groups()[group][i].name;
                if (number)
                    m_builder.addValue({pathOf(quantity, name),
                                        {},
                                        StateClass::Counter,
                                        *number,
                                        scalar->files.front()});
                else if (!scalar)
                    add(partitions.join(quantity, group, i));
            }
        }
    }

    /// The number of steps of a group: a tensor of one float in the file, a value of each parameter.
    std::optional<Value> scalarOf(const TensorRef &tensor) const
    {
        std::array<std::byte, sizeof(float)> bytes{};
        const auto files = m_builder.files();
        if (tensor.dtype.name != "float32" || tensor.unreadable
            || !validateExtents(tensor, files).ok() || !readExtents(tensor, files, 0, bytes).ok())
            return std::nullopt;
        return Value::real(double(loadLittle<float>(bytes.data())));
    }

    void add(TensorRef tensor)
    {
        if (!tensor.unreadable)
            return m_builder.addTensor(std::move(tensor));
        Error error = *tensor.unreadable;
        m_builder.addUnreadable(std::move(tensor), std::move(error));
    }

    /// Weights and buffers; under stage 3 the parameters are empty placeholders.
    void addModel()
    {
        for (auto &[rank, part] : m_rank.model) {
            for (TensorRef &tensor : part.tensors) {
                const auto &keys = tensor.path.keys;
                if (keys[0].text == FrozenParts)
                    continue;
                const bool isParameter = keys.size() == 2 && keys[0].text == "module"
                    && (m_trained.contains(keys[1].text) || isFrozen(keys[1].text));
                if (m_isStage3 && isParameter)
                    continue;
                const Shape shape = tensor.shape;
                m_joiner.add(tensor, std::vector<Index>(shape.rank(), 0), shape);
            }
        }
    }

    bool isFrozen(const std::string &name) const
    {
        return std::any_of(m_frozen.begin(), m_frozen.end(),
                           [&](const ZeroParameter &frozen) { return frozen.name == name; });
    }

    /// Frozen parameters: a part on each rank under stage 3, otherwise a second whole copy.
    void addFrozen()
    {
        for (const ZeroParameter &frozen : m_frozen) {
            if (m_isStage3)
                addFrozenParts(frozen);
            else if (const TensorRef *copy =
                         m_rank.model.begin()->second.tensor(pathOf(FrozenParts, frozen.name))) {
                TensorRef tensor = *copy;
                tensor.path = pathOf("module", frozen.name);
                m_joiner.add(std::move(tensor), std::vector<Index>(copy->shape.rank(), 0),
                             copy->shape);
            }
        }
    }

    void addFrozenParts(const ZeroParameter &frozen)
    {
        TensorRef tensor;
        tensor.path = pathOf("module", frozen.name);
        tensor.shape = frozen.shape;
        const Index count = frozen.shape.count().value_or(0);
        Index at = 0;
        for (const auto &[rank, part] : m_rank.model) {
            const TensorRef *piece = part.tensor(pathOf(FrozenParts, frozen.name));
            if (!piece)
                continue;
            if (tensor.files.empty())
                tensor.dtype = piece->dtype;
            const Index length = std::min(piece->shape.count().value_or(0), count - at);
            addFlatRange(*piece, 0, length, at, tensor);
            at += length;
        }
        add(std::move(tensor));
    }

    static bool isShapes(const ValueRef &value)
    {
        const std::string &key = value.path.keys[0].text;
        return key == Shapes || key == FrozenShapes;
    }

    void addOfRank(ValueRef value, std::int64_t rank)
    {
        value.path.keys.insert(value.path.keys.begin(), Key::of("dp_rank_" + std::to_string(rank)));
        m_builder.addValue(std::move(value));
    }

    /// Of the values, those of the first rank; what another rank has otherwise, by its rank.
    void addValues()
    {
        const RankPart &model = m_rank.model.begin()->second;
        for (const auto &[rank, part] : m_rank.model) {
            for (const ValueRef &value : part.values) {
                if (isShapes(value))
                    continue;
                if (&part == &model)
                    m_builder.addValue(value);
                else if (!isEqual(model.value(value.path), value.value))
                    addOfRank(value, rank);
            }
        }
        for (const auto &[rank, part] : m_rank.optimizer) {
            const RankPart &first = m_rank.optimizer.begin()->second;
            for (const ValueRef &value : part.values) {
                const bool isSaid = ZeroPartitions::isLayout(value.path)
                    || isEqual(model.value(value.path), value.value)
                    || (&part != &first && isEqual(first.value(value.path), value.value));
                if (isSaid)
                    continue;
                if (&part == &first)
                    m_builder.addValue(value);
                else
                    addOfRank(value, rank);
            }
        }
    }

    static bool isEqual(const Value *known, const Value &value)
    {
        return known && known->identicalTo(value);
    }

    ModelRank m_rank;
    CheckpointBuilder &m_builder;
    TensorJoiner m_joiner;
    std::vector<ZeroParameter> m_frozen;
    std::set<std::string> m_trained;
    bool m_isStage3 = false;
};

class DeepspeedLoader final : public DirectoryLoader
{
public:
    std::string_view name() const override { return "deepspeed"; }
    std::string_view description() const override
    {
        return "DeepSpeed, ZeRO 1 to 3 joined over data-parallel ranks";
    }

    DirectoryClaim claim(const DirectoryView &view) const override
    {
        bool hasModel = false, hasOptimizer = false;
        for (const DirectoryEntry &entry : view.listing.entries) {
            const auto file = parseDeepspeedName(entry.name);
            hasOptimizer = hasOptimizer || (file && file->kind == DeepspeedName::Kind::Optimizer);
            hasModel = hasModel || (file && file->kind != DeepspeedName::Kind::Optimizer);
        }
        return {hasModel || hasOptimizer,
                hasOptimizer && !hasModel ? "has no model states" : std::string()};
    }

    Result<LoadedFile> load(const DirectoryView &view, const OpenOptions &options,
                            std::stop_token stop) const override
    {
        LoadedFile loaded;
        loaded.format = name();
        std::map<std::int64_t, ModelRank> ranks;
        std::size_t opened = 0;
        std::optional<Error> first;
        for (const DirectoryEntry &entry : view.listing.entries) {
            const auto file = parseDeepspeedName(entry.name);
            if (!file || entry.kind != EntryKind::File)
                continue;
            auto part =
                loadRankPart(view, entry.name, ownerOf(*file), options, stop, loaded.builder);
            if (!part.ok()) {
                first = first.value_or(part.error());
                tellLostPart(std::move(part).error(), view.prefix + entry.name, loaded.builder);
                continue;
            }
            ++opened;
            if (file->kind == DeepspeedName::Kind::Other)
                addOther(entry.name, std::move(part).value(), loaded.builder);
            else if (file->kind == DeepspeedName::Kind::Model) {
                ModelRank &rank = ranks[file->modelRank];
                rank.isByDataRank = rank.isByDataRank || file->dataRank.has_value();
                rank.model.emplace(file->dataRank.value_or(0), std::move(part).value());
            } else
                ranks[file->modelRank].optimizer.emplace(file->dataRank.value_or(0),
                                                         std::move(part).value());
        }
        if (opened == 0)
            return first.value_or(Error{ErrorCode::NotFound, view.prefix, {}, "holds no files"});
        checkModelRanks(view, ranks, loaded.builder);
        for (auto &[number, rank] : ranks)
            addRank(number, ranks.size() > 1, std::move(rank), loaded.builder);
        checkReplicas(loaded.builder, stop);
        return loaded;
    }

private:
    static OwnerCoordinate ownerOf(const DeepspeedName &file)
    {
        OwnerCoordinate owner;
        if (file.dataRank)
            owner.axes.emplace_back("dp", *file.dataRank);
        if (file.kind != DeepspeedName::Kind::Other)
            owner.axes.emplace_back("mp", file.modelRank);
        return owner;
    }

    /// Layers of pipelines and experts: under the stem of their file.
    static void addOther(const std::string &name, RankPart part, CheckpointBuilder &builder)
    {
        const Key stem = Key::of(name.substr(0, name.rfind('.')));
        for (TensorRef &tensor : part.tensors) {
            tensor.path.keys.insert(tensor.path.keys.begin(), stem);
            builder.addTensor(std::move(tensor));
        }
        for (ValueRef &value : part.values) {
            value.path.keys.insert(value.path.keys.begin(), stem);
            builder.addValue(std::move(value));
        }
    }

    static void checkModelRanks(const DirectoryView &view,
                                const std::map<std::int64_t, ModelRank> &ranks,
                                CheckpointBuilder &builder)
    {
        std::int64_t stated = 0;
        for (const auto &[number, rank] : ranks) {
            if (!rank.model.empty())
                stated = std::max(
                    stated, positive(rank.model.begin()->second, "mp_world_size").value_or(0));
        }
        if (std::int64_t(ranks.size()) >= stated)
            return;
        builder.addDiagnostic({Severity::Error,
                               "incomplete",
                               view.prefix,
                               {},
                               "files of " + std::to_string(ranks.size()) + " of "
                                   + std::to_string(stated) + " model-parallel ranks are here"});
        builder.setIncomplete();
    }

    /// Several model-parallel ranks are kept apart: nothing says how they cut the model.
    static void addRank(std::int64_t number, bool isOneOfMany, ModelRank rank,
                        CheckpointBuilder &builder)
    {
        const std::size_t tensors = builder.catalog().tensors.size();
        const std::size_t values = builder.catalog().values.size();
        RankAssembler(std::move(rank), builder).assemble();
        if (!isOneOfMany)
            return;
        const std::string digits = std::to_string(number);
        const Key prefix = Key::of("mp_rank_" + (digits.size() < 2 ? "0" + digits : digits));
        Catalog &catalog = builder.mutableCatalog();
        const auto place = [&prefix](KeyPath &path) {
            path.keys.insert(path.keys.begin(), prefix);
        };
        for (std::size_t i = tensors; i < catalog.tensors.size(); ++i)
            place(catalog.tensors[i].path);
        for (std::size_t i = values; i < catalog.values.size(); ++i)
            place(catalog.values[i].path);
    }
};

} // namespace

const DirectoryLoader &deepspeedLoader()
{
    static const DeepspeedLoader loader;
    return loader;
}

} // namespace forkpoint
