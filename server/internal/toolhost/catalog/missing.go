package catalog

import (
	"errors"
	"slices"
	"syscall"

	"github.com/toolhost/toolhost/server/internal/trust"
)

// machineFaults are the errors of system calls for which the machine is to blame and not the
// plugin. The plugin can be used when the machine has recovered.
var machineFaults = []syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN,
}

// faultOf returns the fault of the machine that an error comes from; empty if it comes from
// something else.
func faultOf(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok && slices.Contains(machineFaults, errno) {
		return errno.Error()
	}
	return ""
}

// UnusableOwner returns the plugin that owns the name of a tool or filter and cannot be used; nil
// if there is none.
func (s *Snapshot) UnusableOwner(name string) *Plugin {
	o := s.ordered()
	if o.records == nil {
		return nil
	}
	owner := o.records.Owner(name)
	if owner == "" || o.records.Source(owner).Names[name] == 0 {
		return nil
	}
	i := slices.IndexFunc(o.plugins, func(p *Plugin) bool {
		return p.Problem != "" && !p.pending() && trust.RealSource(p.Source) == owner
	})
	if i < 0 {
		return nil
	}
	return o.plugins[i]
}

// Faulty returns a plugin that could not be read or asked because of a fault of the machine, so
// that it may have tools that are not known; nil if there is none.
func (s *Snapshot) Faulty() *Plugin {
	o := s.ordered()
	if i := slices.IndexFunc(o.plugins, func(p *Plugin) bool { return p.Fault != "" }); i >= 0 {
		return o.plugins[i]
	}
	return nil
}
