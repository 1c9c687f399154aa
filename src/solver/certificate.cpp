#include "hearsay/certificate.hpp"

namespace hearsay {

const char* name(Certify level) {
  switch (level) {
    case Certify::none:
      return "none";
    case Certify::residual:
      return "residual";
    case Certify::full:
      return "full";
  }
  return "unknown";
}

const char* name(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::unknown:
      return "unknown";
    case Knowledge::estimate:
      return "estimate";
    case Knowledge::bound:
      return "bound";
  }
  return "unknown";
}

}  // namespace hearsay
