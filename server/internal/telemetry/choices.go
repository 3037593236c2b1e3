package telemetry

import (
	"fmt"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
)

// choices are the settings that can change while the process runs: which traces are recorded, and
// with what. The exporters and the listener keep the settings of the start.
type choices struct {
	ratio  float64 // of new traces
	traces telemetryconfig.Traces
}

// Prepare checks changed settings. The function that it returns applies those that need no restart.
// It cannot fail. The settings count for spans that begin later.
func (t *Telemetry) Prepare(s telemetryconfig.Settings) (apply func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	ratio, err := ratioOf(&Config{Settings: s, Getenv: t.getenv})
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return func() { t.choices.Store(&choices{ratio, s.Traces}) }, nil
}
