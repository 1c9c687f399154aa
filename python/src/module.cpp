// The extension hearsay._core: convert, release the interpreter's lock, call, convert back.
#include "bindings.hpp"
#include "hearsay/device_error.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/threads.hpp"
#include "hearsay/version.hpp"

namespace hearsay::python {

namespace {

// The classes live in hearsay._errors, where each also derives from Python's own of the same meaning.
void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    const auto raise = [](const char* name, const char* what) {
      const nb::object type = nb::module_::import_("hearsay._errors").attr(name);
      PyErr_SetString(type.ptr(), what);
    };
    try {
      std::rethrow_exception(thrown);
    } catch (const InvalidArgument& error) {
      raise("InvalidArgument", error.what());
    } catch (const DataError& error) {
      raise("DataError", error.what());
    } catch (const CommunicationError& error) {
      raise("CommunicationError", error.what());
    } catch (const DeviceError& error) {
      raise("DeviceError", error.what());
    } catch (const Error& error) {
      raise("Error", error.what());
    }
  });
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled half of hearsay; the package around it is the interface.";
  translate_errors();
  m.attr("version") = version;
  m.def("kernel_name", &kernel_name);
  m.def("threads", &threads);
  m.def("set_threads", &set_threads, nb::arg("count"));
  bind_options(m);
  bind_solve(m);
  bind_symmetric(m);
  bind_graphs(m);
  bind_network(m);
  bind_agent(m);
  bind_private(m);
  bind_ledger(m);
  bind_theory(m);
}

}  // namespace hearsay::python
