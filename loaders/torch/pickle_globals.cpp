// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_globals.h"

#include "model/dtype.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace forkpoint {

namespace {

using K = KnownGlobal;

const std::unordered_map<std::string_view, KnownGlobal> &table()
{
    static const std::unordered_map<std::string_view, KnownGlobal> names = {
        {"builtins.dict", K::Dict},
        {"collections.OrderedDict", K::Dict},
        {"collections.defaultdict", K::Dict},
        {"collections.Counter", K::Counter},
        {"builtins.list", K::List},
        {"builtins.tuple", K::Tuple},
        {"builtins.set", K::Set},
        {"builtins.frozenset", K::FrozenSet},
        {"builtins.bytes", K::Bytes},
        {"builtins.bytearray", K::ByteArray},
        {"builtins.complex", K::Complex},
        {"builtins.Ellipsis", K::Ellipsis},
        {"builtins.getattr", K::GetAttr},
        {"_codecs.encode", K::EncodeText},
        {"codecs.encode", K::EncodeText},
        {"_io.BytesIO", K::BytesIO},
        {"io.BytesIO", K::BytesIO},
        {"copyreg._reconstructor", K::Reconstructor},
        {"torch.Size", K::TorchSize},
        {"torch.device", K::TorchDevice},
        {"torch.serialization._get_layout", K::TorchGetLayout},
        {"torch._C.Generator", K::TorchGenerator},
        {"torch.storage._load_from_bytes", K::LoadFromBytes},
        {"torch.jit._pickle.build_intlist", K::JitList},
        {"torch.jit._pickle.build_doublelist", K::JitList},
        {"torch.jit._pickle.build_boollist", K::JitList},
        {"torch.jit._pickle.build_tensorlist", K::JitList},
        {"torch.jit._pickle.restore_type_tag", K::JitTypeTag},
        {"torch._utils._rebuild_tensor", K::RebuildTensor},
        {"torch._utils._rebuild_tensor_v2", K::RebuildTensor},
        {"torch._utils._rebuild_tensor_v3", K::RebuildTensorV3},
        {"torch._utils._rebuild_parameter", K::RebuildParameter},
        {"torch._utils._rebuild_parameter_with_state", K::RebuildParameterWithState},
        {"torch._utils._rebuild_qtensor", K::RebuildQuantized},
        {"torch._utils._rebuild_sparse_tensor", K::RebuildSparse},
        {"torch._utils._rebuild_sparse_csr_tensor", K::RebuildSparseCsr},
        {"torch._utils._rebuild_device_tensor_from_numpy", K::RebuildFromNumpy},
        {"torch._utils._rebuild_xla_tensor", K::RebuildFromNumpy},
        {"torch._utils._rebuild_device_tensor_from_cpu_tensor", K::RebuildFromCpu},
        {"torch._utils._rebuild_meta_tensor_no_storage", K::RebuildMeta},
        {"torch._utils._rebuild_nested_tensor", K::RebuildNested},
        {"torch._utils._rebuild_wrapper_subclass", K::RebuildWrapperSubclass},
        {"torch._tensor._rebuild_from_type", K::RebuildFromType},
        {"torch._tensor._rebuild_from_type_v2", K::RebuildFromType},
        {"torch.tensor._rebuild_from_type", K::RebuildFromType},
        {"torch.tensor._rebuild_from_type_v2", K::RebuildFromType},
        {"torch.strided", K::TorchSymbol},
        {"torch.sparse_coo", K::TorchSymbol},
        {"torch.sparse_csr", K::TorchSymbol},
        {"torch.per_tensor_affine", K::TorchSymbol},
        {"torch.per_channel_affine", K::TorchSymbol},
        {"torch.per_tensor_symmetric", K::TorchSymbol},
        {"torch.per_channel_symmetric", K::TorchSymbol},
        {"torch.per_channel_affine_float_qparams", K::TorchSymbol},
        {"torch._utils.torch.channels_last", K::TorchSymbol},
        {"torch._utils.torch.channels_last_3d", K::TorchSymbol},
        {"torch._utils.torch.contiguous_format", K::TorchSymbol},
        {"torch._utils.torch.preserve_format", K::TorchSymbol},
        {"numpy.core.multiarray._reconstruct", K::NumpyReconstruct},
        {"numpy.core.numeric._frombuffer", K::NumpyFromBuffer},
        {"numpy.core.multiarray.scalar", K::NumpyScalar},
        {"numpy.dtype", K::NumpyDType},
        {"numpy.ma.core._mareconstruct", K::NumpyMaskedReconstruct},
    };
    return names;
}

bool isTorchDType(std::string_view name)
{
    static constexpr std::array<std::string_view, 22> others = {
        "quint8", "qint8", "qint32", "quint4x2", "quint2x4", "float", "double", "half",
        "int",    "long",  "short",  "uint1",    "uint2",    "uint3", "uint4",  "uint5",
        "uint6",  "uint7", "int1",   "int2",     "int3",     "int4"};
    return dtypeByName(name).has_value()
        || std::find(others.begin(), others.end(), name) != others.end();
}

/// Modules of which any name is dangerous, their submodules too.
constexpr std::array<std::string_view, 44> DangerousModules = {"os",
                                                               "posix",
                                                               "nt",
                                                               "posixpath",
                                                               "ntpath",
                                                               "subprocess",
                                                               "_posixsubprocess",
                                                               "sys",
                                                               "runpy",
                                                               "importlib",
                                                               "pkgutil",
                                                               "imp",
                                                               "_imp",
                                                               "zipimport",
                                                               "pickle",
                                                               "_pickle",
                                                               "cPickle",
                                                               "dill",
                                                               "cloudpickle",
                                                               "joblib",
                                                               "marshal",
                                                               "shelve",
                                                               "socket",
                                                               "_socket",
                                                               "shutil",
                                                               "webbrowser",
                                                               "pty",
                                                               "commands",
                                                               "popen2",
                                                               "ctypes",
                                                               "_ctypes",
                                                               "code",
                                                               "codeop",
                                                               "bdb",
                                                               "pdb",
                                                               "timeit",
                                                               "cProfile",
                                                               "profile",
                                                               "trace",
                                                               "multiprocessing",
                                                               "asyncio",
                                                               "httplib",
                                                               "urllib",
                                                               "requests"};

constexpr std::array<std::string_view, 40> DangerousNames = {"builtins.eval",
                                                             "builtins.exec",
                                                             "builtins.execfile",
                                                             "builtins.compile",
                                                             "builtins.__import__",
                                                             "builtins.open",
                                                             "builtins.input",
                                                             "builtins.raw_input",
                                                             "builtins.globals",
                                                             "builtins.locals",
                                                             "builtins.vars",
                                                             "builtins.setattr",
                                                             "builtins.delattr",
                                                             "builtins.breakpoint",
                                                             "builtins.apply",
                                                             "builtins.help",
                                                             "builtins.memoryview",
                                                             "builtins.map",
                                                             "builtins.filter",
                                                             "builtins.reduce",
                                                             "operator.attrgetter",
                                                             "operator.methodcaller",
                                                             "operator.itemgetter",
                                                             "_operator.attrgetter",
                                                             "_operator.methodcaller",
                                                             "_operator.itemgetter",
                                                             "types.FunctionType",
                                                             "types.CodeType",
                                                             "types.LambdaType",
                                                             "io.open",
                                                             "_io.open",
                                                             "_io.FileIO",
                                                             "io.FileIO",
                                                             "torch.load",
                                                             "torch.jit.load",
                                                             "torch.hub.load",
                                                             "numpy.load",
                                                             "pathlib.Path.write_text",
                                                             "tempfile.NamedTemporaryFile",
                                                             "logging.config.dictConfig"};

constexpr std::array<std::string_view, 9> DangerousPrefixes = {"numpy.testing._private.utils.",
                                                               "numpy.f2py.",
                                                               "torch.hub.",
                                                               "torch.utils.cpp_extension.",
                                                               "http.client.",
                                                               "smtplib.",
                                                               "ensurepip.",
                                                               "idlelib.",
                                                               "lib2to3."};

bool startsWith(std::string_view text, std::string_view prefix)
{
    return text.substr(0, prefix.size()) == prefix;
}

bool isInModule(std::string_view module, std::string_view of)
{
    return module == of || (startsWith(module, of) && module[of.size()] == '.');
}

// TorchScript numbers classes of one name in the order in which the exporting process met them.
std::string withoutMangling(std::string_view module)
{
    constexpr std::string_view mark = "___torch_mangle_";
    std::string result;
    for (std::size_t at = 0; at <= module.size();) {
        const std::size_t dot = std::min(module.find('.', at), module.size());
        const std::string_view part = module.substr(at, dot - at);
        if (!startsWith(part, mark))
            result += (at == 0 ? "" : ".") + std::string(part);
        at = dot + 1;
    }
    return result;
}

} // namespace

std::string canonicalModule(std::string_view module, std::string_view)
{
    if (startsWith(module, "__torch__."))
        return withoutMangling(module);
    if (module == "__builtin__" || module == "exceptions")
        return "builtins";
    if (module == "copy_reg")
        return "copyreg";
    if (startsWith(module, "numpy._core"))
        return "numpy.core" + std::string(module.substr(11));
    return std::string(module);
}

std::string canonicalName(std::string_view module, std::string_view name)
{
    if (module == "__builtin__") {
        if (name == "long")
            return "int";
        if (name == "xrange")
            return "range";
        if (name == "unicode")
            return "str";
    }
    return std::string(name);
}

std::string canonicalPath(std::string_view module, std::string_view name)
{
    const std::string home = canonicalModule(module, name);
    const std::string last = canonicalName(module, name);
    return home == "builtins" ? last : home + "." + last;
}

KnownGlobal knownGlobal(std::string_view module, std::string_view name)
{
    const std::string path = canonicalModule(module, name) + "." + canonicalName(module, name);
    if (const auto row = table().find(path); row != table().end())
        return row->second;
    const bool ofTorch = module == "torch" || module == "torch.cuda" || module == "torch.storage";
    if (ofTorch && name.size() > 7 && name.substr(name.size() - 7) == "Storage")
        return K::TorchStorage;
    if (module == "torch" && isTorchDType(name))
        return K::TorchDType;
    return K::None;
}

bool isDangerousGlobal(std::string_view module, std::string_view name)
{
    const std::string home = canonicalModule(module, name);
    for (const std::string_view of : DangerousModules) {
        if (isInModule(home, of))
            return true;
    }
    // A dotted name reaches through its module: torch.serialization + "os.system".
    for (const std::string_view of : DangerousModules) {
        const std::size_t at = name.find(std::string(of) + ".");
        if (at == 0 || (at != std::string_view::npos && name[at - 1] == '.'))
            return true;
    }
    const std::string path = home + "." + std::string(name);
    if (std::find(DangerousNames.begin(), DangerousNames.end(), path) != DangerousNames.end())
        return true;
    return std::any_of(DangerousPrefixes.begin(), DangerousPrefixes.end(),
                       [&](std::string_view prefix) { return startsWith(path, prefix); });
}

} // namespace forkpoint
