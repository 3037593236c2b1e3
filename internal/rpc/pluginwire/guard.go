package pluginwire

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/toolhost/toolhost/tool"
)

// guard runs f, which is not ours, and makes a panic in it an error that names it. The stack goes to the log.
// A goroutine that f ends by runtime.Goexit cannot be saved; see streamSession.run.
func (s *server) guard(what slog.Attr, f func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		s.cfg.Logger.Error("panic in a tool", what, slog.Any("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		err = tool.Errorf(tool.KindInternal, "panic: %s", clip(fmt.Sprint(p), maxReason))
	}()
	return f()
}
