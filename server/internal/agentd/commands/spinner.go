package commands

import "time"

// spinInterval is the time between two frames of the animation. Ten frames a second look smooth,
// and cost little over a slow connection.
const spinInterval = 100 * time.Millisecond

// spinFrames are the frames of the animation.
var spinFrames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// spinner animates a display while a run works, so that a person sees that the run is alive. It is
// for one goroutine.
type spinner struct {
	display *textDisplay
	ticker  *time.Ticker
	frame   int
}

// startSpinner starts the animation. It returns nil if the display is not a terminal with colors;
// the methods of a nil spinner do nothing. The caller stops the spinner.
func startSpinner(d *textDisplay) *spinner {
	if d.block == nil || !d.colors {
		return nil
	}
	return &spinner{display: d, ticker: time.NewTicker(spinInterval)}
}

// ticks returns the channel that says when to show the next frame; nil for none.
func (s *spinner) ticks() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.ticker.C
}

// next shows the next frame. A line that the model has not ended stays as it is.
func (s *spinner) next() error {
	if s.display.inLine {
		return nil
	}
	s.frame = (s.frame + 1) % len(spinFrames)
	s.display.spin = spinFrames[s.frame]
	return s.display.refresh()
}

// stop ends the animation and removes it from the terminal.
func (s *spinner) stop() error {
	if s == nil {
		return nil
	}
	s.ticker.Stop()
	s.display.spin = ""
	return s.display.refresh()
}
