package configfile

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// LogChange logs what a reload of the configuration file of a program did. It logs no values,
// because they may be long. inForce is the message about settings that apply at once. A nil change
// means that nothing differs.
func LogChange(log *slog.Logger, program, inForce string, change *tool.ConfigurationChange) {
	if change == nil {
		return
	}
	if change.Problem != "" {
		log.Error("the changed configuration was refused, and changes nothing", "file", change.File, "error", errors.New(change.Problem))
		return
	}
	var applied, pending []string
	for _, c := range change.Changes {
		if c.Restart {
			pending = append(pending, c.Key)
		} else {
			applied = append(applied, c.Key)
		}
	}
	applied, pending = slices.Compact(applied), slices.Compact(pending) // a list has a change for each element
	if len(applied) > 0 {
		log.Info(inForce, "file", change.File, "keys", applied)
	}
	if len(pending) > 0 {
		log.Warn("changed settings need a restart of "+program, "file", change.File, "keys", pending)
	}
}
