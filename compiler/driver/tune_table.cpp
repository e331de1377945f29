#include "driver/tune_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace choreo::driver {
namespace {

constexpr size_t kColumns = 8;
using Cells = std::array<std::string, kColumns>;

std::string Number(const std::optional<int>& value) {
  return value ? std::to_string(*value) : std::string();
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string MarkdownCell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

Cells CellsOf(const TuneLine& line) {
  Cells cells;
  cells[0] = line.candidate;
  cells[1] = Number(line.registers);
  cells[2] = Number(line.spill_bytes);
  if (line.ms) cells[3] = fmt::format("{:.4f}", *line.ms);
  if (line.summary) {
    cells[4] = fmt::format("{:.4f}", line.summary->ratio);
    cells[5] = fmt::format("{:.4f}", line.summary->low);
    cells[6] = fmt::format("{:.4f}", line.summary->high);
  }
  cells[7] = line.verdict;
  return cells;
}

// Columns as wide as their widest cell: the text is read in a terminal too.
std::string Aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    text += '|';
    for (size_t i = 0; i < widths.size(); ++i)
      text += fmt::format(" {:<{}} |", rows[r][i], widths[i]);
    text += '\n';
    if (r != 0) continue;
    text += '|';
    for (const size_t width : widths) text += fmt::format(" {} |", std::string(width, '-'));
    text += '\n';
  }
  return text;
}

}  // namespace

std::string RenderCsv(const TuneTable& table) {
  std::string text = "candidate,registers,spill_bytes,ms,ratio,ratio_low,ratio_high,verdict\n";
  for (const TuneLine& line : table.lines) {
    const Cells cells = CellsOf(line);
    for (size_t i = 0; i < kColumns; ++i) text += (i == 0 ? "" : ",") + CsvCell(cells[i]);
    text += '\n';
  }
  return text;
}

std::string RenderMarkdown(const TuneTable& table) {
  std::string text = fmt::format("# {}\n\n{}.\n", table.program, table.status);
  if (!table.reference.empty()) {
    text += fmt::format("The ratio is the time of {} over the candidate's: above 1 it is faster.\n",
                        table.reference);
  }
  std::vector<std::vector<std::string>> rows = {
      {"candidate", "registers", "spilled", "ms", "ratio (range)", "verdict"}};
  for (const TuneLine& line : table.lines) {
    const Cells cells = CellsOf(line);
    rows.push_back(
        {MarkdownCell(cells[0]), cells[1], cells[2], cells[3],
         cells[4].empty() ? "" : fmt::format("{} ({} to {})", cells[4], cells[5], cells[6]),
         MarkdownCell(cells[7])});
  }
  text += "\n" + Aligned(rows);
  if (!table.result.empty()) text += "\n" + table.result + "\n";
  return text;
}

}  // namespace choreo::driver
