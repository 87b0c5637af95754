// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints and runs in memory, for tests of everything above the loaders.
#pragma once

#include "model/run.h"
#include "model/tensor_source.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>

namespace forkpoint::test {

/// A checkpoint under construction and its opened source in one: add, then finish().
class MemorySource final : public TensorSource
{
public:
    /// The key path of a dotted name, a text key a part: "model.w".
    static KeyPath pathOf(std::string_view dotted)
    {
        KeyPath path;
        while (true) {
            const auto dot = dotted.find('.');
            path.keys.push_back(Key::of(std::string(dotted.substr(0, dot))));
            if (dot == std::string_view::npos)
                return path;
            dotted.remove_prefix(dot + 1);
        }
    }

    TensorRef &addBytes(KeyPath path, const DType &dtype, std::vector<Index> shape,
                        std::vector<std::byte> bytes)
    {
        TensorRef ref;
        ref.path = std::move(path);
        ref.dtype = dtype;
        ref.shape.dims = std::move(shape);
        ref.fileOrder = m_data.size();
        m_data[ref.path] = std::move(bytes);
        m_catalog.tensors.push_back(std::move(ref));
        return m_catalog.tensors.back();
    }

    template <class T>
    TensorRef &add(KeyPath path, std::string_view dtype, std::vector<Index> shape,
                   const std::vector<T> &elements)
    {
        const auto raw = std::as_bytes(std::span(elements));
        return addBytes(std::move(path), *dtypeByName(dtype), std::move(shape),
                        {raw.begin(), raw.end()});
    }

    TensorRef &addFloats(std::string_view name, const std::vector<float> &elements)
    {
        return add(pathOf(name), "float32", {elements.size()}, elements);
    }

    ValueRef &addValue(std::string_view name, Value value) { return addValue(pathOf(name), value); }
    ValueRef &addValue(KeyPath path, Value value)
    {
        ValueRef ref;
        ref.path = std::move(path);
        ref.value = std::move(value);
        m_catalog.values.push_back(std::move(ref));
        return m_catalog.values.back();
    }

    Catalog &editCatalog() { return m_catalog; }
    /// Reading that tensor fails, from that byte on.
    void breakTensor(const KeyPath &path, std::uint64_t fromByte = 0) { m_broken[path] = fromByte; }
    /// From now on the file is another one than was opened.
    void change() { m_changed = true; }
    void onRead(std::function<void()> hook) { m_onRead = std::move(hook); }

    MemorySource &finish()
    {
        m_catalog.format = "memory";
        m_catalog.finish(StateClassRules::builtin());
        return *this;
    }

    const Catalog &catalog() const override { return m_catalog; }
    Status read(TensorIndex tensor, std::uint64_t firstByte, MutableByteView out) const override
    {
        const KeyPath &path = m_catalog.tensors[tensor].path;
        const std::vector<std::byte> &data = m_data.at(path);
        const std::uint64_t end = firstByte + out.size();
        if (m_onRead)
            m_onRead();
        bytesRead += out.size();
        const auto broken = m_broken.find(path);
        if (broken != m_broken.end() && end > broken->second)
            return Error{ErrorCode::Io, "memory", "byte " + std::to_string(broken->second),
                         "could not be read: a test says so"};
        if (end > data.size())
            return Error{ErrorCode::Truncated, "memory", {}, "ends too early"};
        if (!out.empty())
            std::memcpy(out.data(), data.data() + firstByte, out.size());
        return {};
    }
    Status unchanged() const override
    {
        if (!m_changed)
            return {};
        return Error{ErrorCode::Changed, "memory", {}, "changed while it was read"};
    }

    mutable std::atomic<std::uint64_t> bytesRead = 0;

private:
    Catalog m_catalog;
    std::map<KeyPath, std::vector<std::byte>> m_data;
    std::map<KeyPath, std::uint64_t> m_broken;
    std::function<void()> m_onRead;
    bool m_changed = false;
};

using SourcePtr = std::shared_ptr<MemorySource>;

/// A run whose checkpoints are in memory; a step without a source cannot be opened.
class MemoryRun final : public Run
{
public:
    explicit MemoryRun(std::string path) : m_path(std::move(path)) {}

    MemoryRun &addStep(std::optional<Step> step, SourcePtr source, bool isComplete = true)
    {
        m_steps.push_back(
            {step, m_path + '/' + (step ? std::to_string(*step) : "file"), isComplete});
        m_sources.push_back(std::move(source));
        return *this;
    }
    /// What the last step's own name says.
    MemoryRun &named(Step step)
    {
        m_steps.back().namedStep = step;
        return *this;
    }
    /// The last step cannot be read, as far as a first look tells.
    MemoryRun &unreadable(std::string why)
    {
        m_steps.back().complete = false;
        m_steps.back().unreadable = std::move(why);
        return *this;
    }
    MemoryRun &addMetric(MetricSeries series)
    {
        m_metrics.push_back(std::move(series));
        return *this;
    }
    void setComplete(bool isComplete) { m_complete = isComplete; }

    const std::string &path() const override { return m_path; }
    const std::string &format() const override { return m_format; }
    const std::vector<RunStep> &steps() const override { return m_steps; }
    const std::vector<MetricSeries> &metrics() const override { return m_metrics; }
    const Diagnostics &diagnostics() const override { return m_diagnostics; }
    bool complete() const override { return m_complete; }
    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token) const override
    {
        if (m_sources[index])
            return std::shared_ptr<const TensorSource>(m_sources[index]);
        return Error{ErrorCode::Malformed, m_steps[index].path, {}, "is no checkpoint"};
    }

private:
    std::string m_path, m_format = "memory";
    std::vector<RunStep> m_steps;
    std::vector<SourcePtr> m_sources;
    std::vector<MetricSeries> m_metrics;
    Diagnostics m_diagnostics;
    bool m_complete = true;
};

} // namespace forkpoint::test
