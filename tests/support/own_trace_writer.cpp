// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/own_trace_writer.h"

#include <algorithm>
#include <map>

#include <hdf5.h>

namespace forkpoint::test {

namespace {

class File
{
public:
    explicit File(const std::filesystem::path &path)
    {
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
        m_file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Pclose(access);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() { H5Fclose(m_file); }

    bool ok() const { return m_ok && m_file >= 0; }

    void attribute(const char *name, std::int64_t value)
    {
        const hid_t space = H5Screate(H5S_SCALAR);
        const hid_t own = H5Acreate2(m_file, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
        m_ok &= H5Awrite(own, H5T_NATIVE_INT64, &value) >= 0;
        H5Aclose(own);
        H5Sclose(space);
    }

    void attribute(const char *name, std::string value)
    {
        if (value.empty())
            value.push_back('\0');
        const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, value.size());
        H5Tset_cset(type, H5T_CSET_UTF8);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        const hid_t own = H5Acreate2(m_file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        m_ok &= H5Awrite(own, type, value.data()) >= 0;
        H5Aclose(own);
        H5Tclose(type);
        H5Sclose(space);
    }

    void group(const char *name)
    {
        H5Gclose(H5Gcreate2(m_file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }

    /// Small columns contiguous, larger ones in compressed chunks, as the specification allows.
    template <class T>
    void column(const std::string &name, hid_t type, const std::vector<T> &data, hsize_t width = 1)
    {
        const hsize_t dims[2] = {data.size() / width, width};
        const int rank = width == 1 ? 1 : 2;
        const hid_t space = H5Screate_simple(rank, dims, nullptr);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        if (data.size() > 256) {
            const hsize_t chunk[2] = {std::min<hsize_t>(dims[0], 10'000), width};
            H5Pset_chunk(creation, rank, chunk);
            H5Pset_deflate(creation, 1);
        }
        const hid_t own =
            H5Dcreate2(m_file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        m_ok &= H5Dwrite(own, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) >= 0;
        H5Dclose(own);
        H5Pclose(creation);
        H5Sclose(space);
    }

private:
    hid_t m_file = -1;
    bool m_ok = true;
};

class Strings
{
public:
    Strings() { number(""); }

    std::uint32_t number(const std::string &text)
    {
        const auto [known, isNew] = m_known.try_emplace(text, std::uint32_t(m_known.size()));
        if (isNew) {
            m_bytes.insert(m_bytes.end(), text.begin(), text.end());
            m_ends.push_back(m_bytes.size());
        }
        return known->second;
    }
    void write(File &file) const
    {
        file.group("strings");
        file.column("strings/bytes", H5T_STD_U8LE, m_bytes);
        file.column("strings/end", H5T_STD_U64LE, m_ends);
    }

private:
    std::map<std::string, std::uint32_t> m_known;
    std::vector<std::uint8_t> m_bytes;
    std::vector<std::uint64_t> m_ends;
};

struct TensorTable
{
    std::vector<std::uint32_t> path, dtype, note;
    std::vector<std::uint8_t> rank, absence, content, tensor, store;
    std::vector<std::uint64_t> dims, bytes, nan, inf, zero;
    std::vector<std::int64_t> payload, leaves;
    std::vector<double> absMax, l2;

    void add(const WrittenTensor &own, Strings &strings)
    {
        path.push_back(strings.number(own.path));
        dtype.push_back(strings.number(own.dtype));
        note.push_back(strings.number(own.note));
        rank.push_back(std::uint8_t(own.shape.size()));
        dims.insert(dims.end(), own.shape.begin(), own.shape.end());
        bytes.push_back(own.stream.empty() ? own.bytes : own.stream.size());
        absence.push_back(own.absence);
        content.insert(content.end(), own.content.begin(), own.content.end());
        tensor.insert(tensor.end(), own.tensor.begin(), own.tensor.end());
        payload.push_back(own.isKept ? std::int64_t(store.size()) : -1);
        if (own.isKept) {
            const auto *const begin = reinterpret_cast<const std::uint8_t *>(own.stream.data());
            store.insert(store.end(), begin, begin + own.stream.size());
        }
        leaves.push_back(-1);
        absMax.push_back(own.absMax);
        l2.push_back(own.l2);
        nan.push_back(own.nan);
        inf.push_back(own.inf);
        zero.push_back(own.zero);
    }
    void write(File &file) const
    {
        file.group("tensors");
        file.column("tensors/path", H5T_STD_U32LE, path);
        file.column("tensors/dtype", H5T_STD_U32LE, dtype);
        file.column("tensors/note", H5T_STD_U32LE, note);
        file.column("tensors/rank", H5T_STD_U8LE, rank);
        file.column("tensors/absence", H5T_STD_U8LE, absence);
        file.column("tensors/content", H5T_STD_U8LE, content, 16);
        file.column("tensors/tensor", H5T_STD_U8LE, tensor, 16);
        file.column("tensors/dims", H5T_STD_U64LE, dims);
        file.column("tensors/bytes", H5T_STD_U64LE, bytes);
        file.column("tensors/payload", H5T_STD_I64LE, payload);
        file.column("tensors/leaves", H5T_STD_I64LE, leaves);
        file.column("tensors/abs_max", H5T_IEEE_F64LE, absMax);
        file.column("tensors/l2", H5T_IEEE_F64LE, l2);
        file.column("tensors/nan", H5T_STD_U64LE, nan);
        file.column("tensors/inf", H5T_STD_U64LE, inf);
        file.column("tensors/zero", H5T_STD_U64LE, zero);
        if (!store.empty())
            file.column("payload", H5T_STD_U8LE, store);
    }
};

struct RecordTable
{
    std::vector<std::uint8_t> role, flags;
    std::vector<std::int64_t> step;
    std::vector<std::int32_t> microBatch;
    std::vector<std::uint64_t> sequence;
    std::vector<std::uint32_t> stage, name, scope, call, inputs, outputs, values;

    void add(const WrittenRecord &own, Strings &strings)
    {
        role.push_back(own.role);
        flags.push_back(own.flags);
        step.push_back(own.step);
        microBatch.push_back(own.microBatch);
        sequence.push_back(own.sequence);
        stage.push_back(strings.number(own.stage));
        name.push_back(strings.number(own.name));
        scope.push_back(strings.number(own.scope));
        call.push_back(own.call);
        inputs.push_back(std::uint32_t(own.inputs.size()));
        outputs.push_back(std::uint32_t(own.outputs.size()));
        values.push_back(std::uint32_t(own.values.size()));
    }
    void write(File &file) const
    {
        file.group("records");
        file.column("records/role", H5T_STD_U8LE, role);
        file.column("records/flags", H5T_STD_U8LE, flags);
        file.column("records/step", H5T_STD_I64LE, step);
        file.column("records/micro_batch", H5T_STD_I32LE, microBatch);
        file.column("records/sequence", H5T_STD_U64LE, sequence);
        file.column("records/stage", H5T_STD_U32LE, stage);
        file.column("records/name", H5T_STD_U32LE, name);
        file.column("records/scope", H5T_STD_U32LE, scope);
        file.column("records/call", H5T_STD_U32LE, call);
        file.column("records/inputs", H5T_STD_U32LE, inputs);
        file.column("records/outputs", H5T_STD_U32LE, outputs);
        file.column("records/values", H5T_STD_U32LE, values);
    }
};

void writeRoot(File &file, const WrittenHeader &header)
{
    file.attribute("format", header.format);
    file.attribute("version", header.version);
    file.attribute("kind", header.kind);
    file.attribute("fingerprint", header.fingerprint);
    file.attribute("run", header.run);
    file.attribute("rank", header.rank);
    file.attribute("world_size", header.worldSize);
    file.attribute("axes", header.axes);
    file.attribute("writer", "tests");
    file.attribute("records", header.records);
    file.attribute("tensors", header.tensors);
    file.attribute("values", header.values);
}

} // namespace

bool writeSegment(const std::filesystem::path &path, WrittenHeader header,
                  const std::vector<WrittenRecord> &records, const std::vector<WrittenFact> &facts)
{
    std::filesystem::create_directories(path.parent_path());
    Strings strings;
    RecordTable table;
    TensorTable tensors;
    std::vector<std::uint32_t> names, values, factNames, factValues;
    std::vector<std::uint8_t> factRoles;
    for (const WrittenRecord &record : records) {
        table.add(record, strings);
        for (const auto *list : {&record.inputs, &record.outputs}) {
            for (const WrittenTensor &tensor : *list)
                tensors.add(tensor, strings);
        }
        for (const auto &[name, value] : record.values) {
            names.push_back(strings.number(name));
            values.push_back(strings.number(value));
        }
    }
    for (const WrittenFact &fact : facts) {
        factRoles.push_back(fact.role);
        factNames.push_back(strings.number(fact.name));
        factValues.push_back(strings.number(fact.value));
    }
    const auto isGiven = [](std::int64_t &count, std::size_t own) {
        if (count < 0)
            count = std::int64_t(own);
    };
    isGiven(header.records, records.size());
    isGiven(header.tensors, tensors.path.size());
    isGiven(header.values, names.size());
    File file(path);
    writeRoot(file, header);
    file.attribute("segment", header.segment);
    file.attribute("first_step", header.firstStep);
    file.attribute("last_step", header.lastStep);
    table.write(file);
    tensors.write(file);
    file.group("values");
    file.column("values/name", H5T_STD_U32LE, names);
    file.column("values/value", H5T_STD_U32LE, values);
    file.group("facts");
    file.column("facts/role", H5T_STD_U8LE, factRoles);
    file.column("facts/name", H5T_STD_U32LE, factNames);
    file.column("facts/value", H5T_STD_U32LE, factValues);
    strings.write(file);
    return file.ok();
}

bool writeEnd(const std::filesystem::path &path, WrittenHeader header)
{
    std::filesystem::create_directories(path.parent_path());
    File file(path);
    header.kind = header.kind == "segment" ? "end" : header.kind;
    writeRoot(file, header);
    file.attribute("segments", header.segments);
    file.attribute("reason", header.reason);
    file.attribute("payload_bytes", std::int64_t(0));
    file.attribute("payload_left_out", std::int64_t(0));
    return file.ok();
}

} // namespace forkpoint::test
