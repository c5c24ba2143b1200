"""What tests read of a display."""


def legend_of(display):
    legend = display.ax_.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]
