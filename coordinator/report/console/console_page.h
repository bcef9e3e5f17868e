// A page of console text: labelled paragraphs, tables and quiet lines, limited to the style's width.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_PAGE_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/report/console/console_report.h"
#include "coordinator/report/text/text_table.h"

namespace iobench {

// How text looks if the style has color; the words must make sense without it.
enum class Tone { kPlain, kStrong, kQuiet, kWarning, kError };

// Collects text until Take. REQUIRES, for all texts: printable (display_text.h) and without escape sequences, which are
// added here. If the style is narrower than 38 columns, lines exceed its width.
class ConsolePage {
 public:
  static constexpr size_t kTextColumn = 14;  // column where the text after a label starts
  static constexpr size_t kGapColumns = 3;   // between figures

  explicit ConsolePage(const ConsoleStyle& style) : style_(style) {}

  // Adds a line without indentation. Pieces are placed side by side; one that does not fit starts a new line, indented
  // like the text after a label, and is wrapped there if it is a sentence.
  struct Piece {
    std::string text;
    Tone tone = Tone::kPlain;
  };
  void Line(const std::vector<Piece>& pieces);

  // Adds " label text" and wraps the text in its own column. An empty label continues the paragraph above. REQUIRES:
  // the label is at most 11 columns wide.
  void Labelled(std::string_view label, std::string_view text, Tone tone = Tone::kPlain);

  // The same for figures that must not be broken: " label full 1 GiB/s children 2 GiB/s". Adds nothing if there are
  // none.
  void Figures(std::string_view label, const std::vector<std::string>& figures, Tone tone = Tone::kPlain);

  // Adds a table, indented like a label, with a quiet title line.
  void Table(const TextTable& table);
  size_t table_columns() const;  // width available for a table

  void Blank() { text_ += '\n'; }
  // Returns the text so far. Call it once, at the end.
  std::string Take() { return std::move(text_); }

 private:
  size_t TextColumns() const;  // width of the text after a label
  void Put(std::string_view text, Tone tone);

  const ConsoleStyle style_;
  std::string text_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_PAGE_H_
