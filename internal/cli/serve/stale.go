package serve

import (
	"errors"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// staleConfiguration returns a function that reports whether toolhost would start with other
// settings than it did. It returns nil if the configuration cannot be read again. About a file that
// is not trusted, the function reports only that, and nothing of the content.
func (o Options) staleConfiguration() func() *tool.ConfigurationChange {
	if o.again == nil || o.file != "" && !isRegular(o.file) { // a pipe can be read only once
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

// checkAgain returns an error if the configuration in force no longer allows the use of the file.
// It runs before the file is parsed, because errors of the parser quote the file.
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

// warnOfStale logs the changes of the configuration that are not in force.
func warnOfStale(c *tool.ConfigurationChange, logger *slog.Logger) {
	switch {
	case c == nil:
	case c.Problem != "":
		logger.Warn("the changed configuration is not in force, and toolhost would refuse to start with it", "file", c.File, "error", errors.New(c.Problem))
	default:
		logger.Warn("the configuration has changed; restart toolhost to apply it", "file", c.File, "keys", c.Keys)
	}
}
