// The shell of every page that hearsay writes: light or dark as the reader's screen is, no script, no request.
#pragma once

#include <string>
#include <string_view>

namespace hearsay::app {

/// `title` as text, `body` as HTML.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace hearsay::app
