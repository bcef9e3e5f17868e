#include "coordinator/report/console/console_page.h"

#include <algorithm>

#include "common/text/display_text.h"

namespace iobench {
namespace {

constexpr size_t kIndentColumns = 2;
constexpr size_t kMinTextColumns = 24;  // on narrower terminals, lines are longer than the terminal

const char* EscapeOf(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kStrong:
      return "\033[1m";
    case Tone::kQuiet:
      return "\033[2m";
    case Tone::kWarning:
      return "\033[33m";
    case Tone::kError:
      return "\033[31m";
  }
  return "";
}

}  // namespace

void ConsolePage::Put(std::string_view text, Tone tone) {
  const bool painted = style_.color && tone != Tone::kPlain && !text.empty();
  if (painted) text_ += EscapeOf(tone);
  text_ += text;
  if (painted) text_ += "\033[0m";
}

size_t ConsolePage::TextColumns() const {
  return std::max(style_.width_columns, kTextColumn + kMinTextColumns) - kTextColumn;
}

void ConsolePage::Line(const std::vector<Piece>& pieces) {
  size_t used = 0;
  for (const Piece& piece : pieces) {
    // A name differs from others at its ends, a sentence is read as a whole.
    const bool is_sentence = piece.text.find(' ') != std::string::npos;
    for (const std::string& text : is_sentence ? Wrapped(piece.text, TextColumns())
                                               : std::vector<std::string>{Shortened(piece.text, TextColumns())}) {
      const size_t columns = DisplayColumns(text);
      if (columns == 0) continue;
      if (used > 0 && used + kGapColumns + columns > style_.width_columns) {
        text_ += '\n';
        text_.append(kTextColumn, ' ');
        used = kTextColumn;
      } else if (used > 0) {
        text_.append(kGapColumns, ' ');
        used += kGapColumns;
      }
      Put(text, piece.tone);
      used += columns;
    }
  }
  text_ += '\n';
}

void ConsolePage::Labelled(std::string_view label, std::string_view text, Tone tone) {
  const size_t room = TextColumns();
  const Tone label_tone = tone == Tone::kPlain || tone == Tone::kStrong ? Tone::kQuiet : tone;
  for (std::string& line : Wrapped(text, room)) {
    line.erase(line.find_last_not_of(' ') + 1);  // trailing padding of aligned figures
    text_.append(kIndentColumns, ' ');
    Put(label, label_tone);
    const size_t used = kIndentColumns + DisplayColumns(label);
    // A label that fills its column has a gap, too.
    if (!line.empty()) text_.append(std::max(kTextColumn, used + (label.empty() ? 0 : 1)) - used, ' ');
    Put(line, tone);
    text_ += '\n';
    label = "";
  }
}

void ConsolePage::Figures(std::string_view label, const std::vector<std::string>& figures, Tone tone) {
  const size_t room = TextColumns();
  std::string line;
  for (const std::string& figure : figures) {
    if (!line.empty() && DisplayColumns(line) + kGapColumns + DisplayColumns(figure) > room) {
      Labelled(label, line, tone);
      label = "";
      line.clear();
    }
    if (!line.empty()) line.append(kGapColumns, ' ');
    line += figure;
  }
  if (!line.empty()) Labelled(label, line, tone);
}

size_t ConsolePage::table_columns() const {
  return style_.width_columns - kIndentColumns;
}

void ConsolePage::Table(const TextTable& table) {
  bool is_title = true;
  for (const std::string& line : table.Lines(table_columns())) {
    text_.append(kIndentColumns, ' ');
    Put(line, is_title ? Tone::kQuiet : Tone::kPlain);
    text_ += '\n';
    is_title = false;
  }
}

}  // namespace iobench
