package serve

import (
	"errors"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// staleConfiguration returns what tells whether toolhost would start with the same settings as it did, nil if that cannot be
// told. Of a file that is not trusted it says that alone, and nothing of its content.
func (o Options) staleConfiguration() func() *tool.ConfigurationChange {
	if o.again == nil || o.file != "" && !isRegular(o.file) { // a pipe cannot be read twice
		return nil
	}
	return func() *tool.ConfigurationChange {
		if o.file != "" && !isRegular(o.file) {
			return &tool.ConfigurationChange{File: o.file, Problem: "it is gone, or is not a regular file any more; put it back"}
		}
		if err := o.checkAgain(); err != nil {
			return &tool.ConfigurationChange{File: o.file, Problem: err.Error()}
		}
		now, err := o.again()
		if err != nil {
			return &tool.ConfigurationChange{File: o.file, Problem: err.Error()}
		}
		if keys := config.Changed(&o.Config, &now.Config); len(keys) > 0 {
			return &tool.ConfigurationChange{File: o.file, Keys: keys}
		}
		return nil
	}
}

// checkAgain returns an error if the file may not be used any more under the configuration that is in force. It comes before
// the file is parsed, because the errors of parsing quote the file.
func (o *Options) checkAgain() error {
	if o.file == "" {
		return nil
	}
	file, err := trust.Read(o.file, true)
	if err != nil {
		return err
	}
	return trustConfig(o.getenv, file, writableFolders(&o.Config))
}

// isRegular reports whether a path leads to a regular file.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// warnOfStale logs what of the configuration is not in force.
func warnOfStale(c *tool.ConfigurationChange, logger *slog.Logger) {
	switch {
	case c == nil:
	case c.Problem != "":
		logger.Warn("the changed configuration is not in force, and toolhost would refuse to start with it", "file", c.File, "error", errors.New(c.Problem))
	default:
		logger.Warn("the configuration has changed; restart toolhost to apply it", "file", c.File, "keys", c.Keys)
	}
}
