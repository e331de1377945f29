#include "sim/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace choreo::sim {
namespace {

constexpr std::array kKinds = {SpanKind::Compute, SpanKind::Wait, SpanKind::Mma, SpanKind::Load,
                               SpanKind::Store};

uint64_t EndOf(const Trace& trace, const ViewWindow& window) {
  uint64_t end = trace.cycles;
  for (const TraceSpan& span : trace.spans) end = std::max(end, span.end);
  if (window.last != 0) end = std::min(end, window.last);
  return std::max(end, window.first + 1);
}

// The cycles of a span within [from, to).
uint64_t Within(const TraceSpan& span, uint64_t from, uint64_t to) {
  const uint64_t first = std::max(span.start, from);
  const uint64_t last = std::min(span.end, to);
  return last > first ? last - first : 0;
}

char Letter(SpanKind kind) {
  constexpr char kLetters[] = {'#', '.', 'M', 'L', 'S'};
  return kLetters[static_cast<size_t>(kind)];
}

// Cycles of a track in which at least one of its spans of this kind runs.
uint64_t Covered(const Trace& trace, uint32_t track, SpanKind kind, uint64_t from, uint64_t to) {
  uint64_t covered = 0;
  uint64_t reached = from;
  for (const TraceSpan& span : trace.spans) {  // by their starts
    if (span.track != track || span.kind != kind) continue;
    const uint64_t first = std::max(span.start, reached);
    const uint64_t last = std::min(span.end, to);
    if (last <= first) continue;
    covered += last - first;
    reached = last;
  }
  return covered;
}

std::string Share(const Trace& trace, uint32_t track, uint64_t from, uint64_t to) {
  std::string text;
  for (const SpanKind kind : kKinds) {
    const uint64_t covered = Covered(trace, track, kind, from, to);
    if (covered == 0) continue;
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", Name(kind),
                        100.0 * static_cast<double>(covered) / static_cast<double>(to - from));
  }
  return text;
}

std::string Title(const Trace& trace, uint64_t from, uint64_t to) {
  return fmt::format("{}, CTA {}: cycles {} to {}, modelled (not measured)", trace.kernel,
                     trace.cta, from, to);
}

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A round step that gives about `count` marks.
uint64_t MarkStep(uint64_t cycles, uint64_t count) {
  uint64_t step = 1;
  while (true) {
    for (const uint64_t factor : {1, 2, 5}) {
      if (cycles / (step * factor) <= count) return step * factor;
    }
    step *= 10;
  }
}

// ---- SVG ----

constexpr int kLeft = 220, kWidth = 1200, kRow = 18, kGap = 6, kTop = 54;

const char* Color(SpanKind kind) {
  switch (kind) {
    case SpanKind::Compute:
      return "#4e79a7";
    case SpanKind::Wait:
      return "#e6e6e6";
    case SpanKind::Mma:
      return "#59a14f";
    case SpanKind::Load:
      return "#f28e2b";
    case SpanKind::Store:
      return "#b07aa1";
  }
  return "";
}

class Svg {
 public:
  Svg(const Trace& trace, uint64_t from, uint64_t to)
      : trace_(trace), from_(from), to_(to), rows_(LayOutRows(trace)) {
    int y = kTop;
    for (const uint32_t rows : rows_.rows_of_track) {
      tops_.push_back(y);
      y += static_cast<int>(rows) * kRow + kGap;
    }
    bottom_ = y;
  }

  std::string Render() {
    const int height = bottom_ + 24;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
        "<text x=\"8\" y=\"18\" font-size=\"14\">{2}</text>\n",
        kLeft + kWidth + 20, height, Escaped(Title(trace_, from_, to_)));
    Legend();
    Axis();
    for (size_t track = 0; track < tops_.size(); ++track) {
      out_ += fmt::format("<text x=\"8\" y=\"{}\">{}</text>\n", tops_[track] + kRow - 5,
                          Escaped(trace_.tracks[track]));
    }
    for (size_t i = 0; i < trace_.spans.size(); ++i) Span(i);
    return out_ + "</svg>\n";
  }

 private:
  double X(uint64_t cycle) const {
    const uint64_t at = std::clamp(cycle, from_, to_) - from_;
    return kLeft + kWidth * static_cast<double>(at) / static_cast<double>(to_ - from_);
  }

  void Legend() {
    int x = kLeft;
    for (const SpanKind kind : kKinds) {
      out_ += fmt::format(
          "<rect x=\"{}\" y=\"26\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" "
          "y=\"36\">{}</text>\n",
          x, Color(kind), x + 16, Name(kind));
      x += 90;
    }
  }

  void Axis() {
    const uint64_t step = MarkStep(to_ - from_, 12);
    for (uint64_t mark = (from_ + step - 1) / step * step; mark <= to_; mark += step) {
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#cccccc\"/><text "
          "x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
          X(mark), kTop - 4, bottom_, bottom_ + 14, mark);
    }
  }

  void Span(size_t index) {
    const TraceSpan& span = trace_.spans[index];
    if (Within(span, from_, to_) == 0) return;
    const double x = X(span.start);
    const double width = std::max(X(span.end) - x, 0.5);
    const int y = tops_[span.track] + static_cast<int>(rows_.row_of[index]) * kRow;
    out_ += fmt::format(
        "<g><title>{}{}: {} to {} ({} cycles)</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" "
        "height=\"{}\" fill=\"{}\" stroke=\"white\" stroke-width=\"0.5\"/>",
        Escaped(span.name), span.line == 0 ? "" : fmt::format(" (line {})", span.line), span.start,
        span.end, span.end - span.start, x, y, width, kRow - 2, Color(span.kind));
    // A label where there is room for some of it.
    constexpr double kLetterWidth = 6.2;
    const auto room = static_cast<size_t>(std::max(width - 6, 0.0) / kLetterWidth);
    if (room >= 3) {
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" fill=\"{}\">{}</text>", x + 3, y + kRow - 6,
                          span.kind == SpanKind::Wait ? "#666666" : "white",
                          Escaped(span.name.substr(0, room)));
    }
    out_ += "</g>\n";
  }

  const Trace& trace_;
  uint64_t from_, to_;
  TraceRows rows_;
  std::vector<int> tops_;
  int bottom_ = 0;
  std::string out_;
};

}  // namespace

std::string RenderText(const Trace& trace, uint32_t columns, ViewWindow window) {
  const uint64_t from = window.first;
  const uint64_t to = EndOf(trace, window);
  columns = std::max(columns, 10u);
  size_t widest = 0;
  for (const std::string& name : trace.tracks) widest = std::max(widest, name.size());
  std::string out = Title(trace, from, to) + "\n";
  out += fmt::format("{} one column is {:.1f} cycles: # compute, . wait, M mma, L load, S store\n",
                     std::string(widest, ' '),
                     static_cast<double>(to - from) / static_cast<double>(columns));
  for (uint32_t track = 0; track < trace.tracks.size(); ++track) {
    // Cycles of each kind in each column.
    std::vector<std::array<uint64_t, kKinds.size()>> shares(columns);
    for (const TraceSpan& span : trace.spans) {
      if (span.track != track || Within(span, from, to) == 0) continue;
      const auto column_of = [&](uint64_t cycle) {
        return std::min<uint64_t>((cycle - from) * columns / (to - from), columns - 1);
      };
      const uint64_t last = column_of(std::min(span.end, to) - 1);
      for (uint64_t c = column_of(std::max(span.start, from)); c <= last; ++c) {
        const uint64_t begin = from + c * (to - from) / columns;
        const uint64_t end = from + (c + 1) * (to - from) / columns;
        shares[c][static_cast<size_t>(span.kind)] += Within(span, begin, std::max(end, begin + 1));
      }
    }
    out += fmt::format("{:<{}} ", trace.tracks[track], widest);
    for (const auto& share : shares) {
      const auto most = std::max_element(share.begin(), share.end());
      out += *most == 0 ? ' ' : Letter(kKinds[static_cast<size_t>(most - share.begin())]);
    }
    out += "  " + Share(trace, track, from, to) + "\n";
  }
  return out;
}

std::string RenderSvg(const Trace& trace, ViewWindow window) {
  return Svg(trace, window.first, EndOf(trace, window)).Render();
}

}  // namespace choreo::sim
