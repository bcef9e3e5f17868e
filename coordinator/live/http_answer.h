// HTTP/1.1 (RFC 9112) as far as a server of one read-only text needs it: finds the end of a request, and answers it. Pure.
#ifndef COORDINATOR_LIVE_HTTP_ANSWER_H_
#define COORDINATOR_LIVE_HTTP_ANSWER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace iobench {

// Of a request line with all headers.
inline constexpr size_t kMaxHttpHeadBytes = 8192;

// What the server has.
struct HttpText {
  absl::string_view path;  // "/metrics"
  absl::string_view content_type;
  size_t bytes = 0;              // of the text itself, which the caller sends
  absl::string_view listens_at;  // the host as the user gave it: "127.0.0.1", "node1"
  absl::string_view host_name;   // of this machine
};

struct HttpAnswer {
  std::string head;       // status line and headers, and the body of an error
  bool has_text = false;  // the text follows
};

// Returns the number of bytes of the request line and headers, with the empty line that ends them; 0: they have not
// ended yet. Line breaks are CR LF or LF.
size_t HttpHeadBytes(absl::string_view received);

// Answers GET and HEAD of the path; the connection ends with the answer. Errors: 400 not HTTP, or not one Host; 404 another
// path; 405 another method; 413 the request has a body; 421 its Host is a name other than ours: a web page that has its
// own name point to this address (DNS rebinding) gets no figures. `head`: what HttpHeadBytes has found.
HttpAnswer AnswerHttp(absl::string_view head, const HttpText& text);
// The answer to a request that is longer than kMaxHttpHeadBytes (431).
HttpAnswer AnswerTooLong();

}  // namespace iobench

#endif  // COORDINATOR_LIVE_HTTP_ANSWER_H_
