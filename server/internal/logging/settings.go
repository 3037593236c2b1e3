package logging

import (
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// LevelUsage is the help of the flag --log-level.
const LevelUsage = "the lowest `LEVEL` that is logged: debug, info, warn or error, also for subsystems, as in info,policy=debug (default: info)"

// Settings puts the levels of the flag --log-level over those of an environment variable, and these
// over those of the file. An error is a usage error that names the flag or the variable.
func Settings(known loglevel.Subsystems, flag, variable string, getenv func(string) string, file loglevel.Settings) (loglevel.Settings, error) {
	ofFlag, err := known.ParseSettings(flag)
	if err != nil {
		return file, cli.Usage("--log-level: %w", err)
	}
	ofVariable, err := known.ParseSettings(getenv(variable))
	if err != nil {
		return file, cli.Usage("%s: %w", variable, err)
	}
	return ofFlag.Over(ofVariable).Over(file), nil
}
