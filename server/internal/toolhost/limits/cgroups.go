package limits

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/claimed"
)

// ownPrefix is the prefix of names of toolhosts' groups.
const ownPrefix = "toolhost-"

// removePatience bounds the time that killed processes may stay in their group.
const removePatience = 5 * time.Second

// Cgroups holds one toolhost's control groups: in each hierarchy that can be written, a group below
// toolhost's own, so that the bounds of toolhost also bound its plugins. All methods are safe for
// concurrent use. A nil *Cgroups is a machine without control groups.
type Cgroups struct {
	hierarchies []hierarchy
	missing     map[string]string // by controller: why no hierarchy has it
	kills       killWatch

	mu     sync.Mutex
	claims []*os.File
}

// hierarchy is one tree of control groups with the parts that toolhost can use.
type hierarchy struct {
	version     int
	home        string   // toolhost's own group
	own         string   // the group that toolhost made for its plugins
	controllers []string // those of memory, cpu and pids that it has
}

// controllers are the controllers that limits need.
var controllers = [...]string{"memory", "cpu", "pids"}

// OpenCgroups makes toolhost's groups. Missing ones are no error: Holder.Effective reports them.
// Call Close at the end. Dirs lists the groups for the process that cleans up after toolhost.
func OpenCgroups() *Cgroups {
	mounts, err := findMounts()
	c := &Cgroups{missing: map[string]string{}}
	if err != nil {
		for _, name := range controllers {
			c.missing[name] = err.Error()
		}
		return c
	}
	c.open(mounts)
	return c
}

// mount is a mounted tree of control groups.
type mount struct {
	version     int
	home        string
	controllers []string // of version 1; version 2 lists them in a file
}

func (c *Cgroups) open(mounts []mount) {
	for _, name := range controllers {
		c.missing[name] = "no control groups with the controller " + name + " are mounted"
	}
	for _, m := range mounts {
		h, err := c.openHierarchy(m)
		if err != nil {
			for _, name := range m.controllers {
				c.missing[name] = err.Error()
			}
			if m.version == 2 && len(mounts) == 1 {
				for _, name := range controllers {
					c.missing[name] = err.Error()
				}
			}
			continue
		}
		c.hierarchies = append(c.hierarchies, h)
	}
	for _, h := range c.hierarchies {
		for _, name := range h.controllers {
			delete(c.missing, name)
		}
	}
}

func (c *Cgroups) openHierarchy(m mount) (hierarchy, error) {
	h := hierarchy{version: m.version, home: m.home}
	for _, name := range m.controllers {
		if slices.Contains(controllers[:], name) {
			h.controllers = append(h.controllers, name)
		}
	}
	if m.version == 1 && len(h.controllers) == 0 {
		return h, errors.New("nothing of use")
	}
	if m.version == 2 {
		h.home, h.controllers = delegate(m.home, c.missing)
	}
	own, claim, err := claimed.Make(h.home, ownPrefix)
	if err != nil {
		return h, fmt.Errorf("the control group %s cannot be written: %w", h.home, err)
	}
	h.own = own
	if m.version == 2 {
		h.controllers = enable(own, h.controllers, c.missing)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims = append(c.claims, claim)
	return h, nil
}

// FindsAll reports whether all descendants of a process can be found and killed at once, wherever
// they moved: with version 2, whose groups have cgroup.kill.
func (c *Cgroups) FindsAll() bool {
	return c != nil && slices.ContainsFunc(c.hierarchies, func(h hierarchy) bool { return h.version == 2 })
}

// Dirs returns the folders of toolhost's groups, for RemoveGroups.
func (c *Cgroups) Dirs() []string {
	if c == nil {
		return nil
	}
	var dirs []string
	for _, h := range c.hierarchies {
		dirs = append(dirs, h.own)
	}
	return dirs
}

// Close kills the processes in the groups and removes the groups. It may be called more than once.
func (c *Cgroups) Close() error {
	if c == nil {
		return nil
	}
	err := RemoveGroups(c.Dirs())
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, claim := range c.claims {
		err = errors.Join(err, claim.Close())
	}
	c.claims = nil
	return err
}

// with returns the hierarchy that has the controller.
func (c *Cgroups) with(controller string) (hierarchy, bool) {
	if c != nil {
		for _, h := range c.hierarchies {
			if slices.Contains(h.controllers, controller) {
				return h, true
			}
		}
	}
	return hierarchy{}, false
}

func (c *Cgroups) why(controller string) string {
	if c == nil {
		return "toolhost uses no control groups"
	}
	return c.missing[controller]
}

// RemoveGroups kills every process in the groups and in those below them, and removes them. Groups
// that do not exist are no error. A group whose processes do not die within a few seconds is one.
func RemoveGroups(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, removeTree(dir))
	}
	return errors.Join(errs...)
}

// SweepGroups removes the groups of toolhosts that are gone, if they are where this toolhost would
// make its own. It returns their number.
func SweepGroups() (int, error) {
	mounts, err := findMounts()
	if err != nil {
		return 0, nil // so that toolhosts made none
	}
	var swept int
	var errs []error
	for _, m := range mounts {
		n, err := sweepIn(m.home, ownPrefix, removeTree)
		swept, errs = swept+n, append(errs, err)
		if m.version == 2 && filepath.Base(m.home) == supervisor {
			n, err := sweepIn(filepath.Dir(m.home), ownPrefix, removeTree)
			swept, errs = swept+n, append(errs, err)
		}
	}
	return swept, errors.Join(errs...)
}

func sweepIn(parent, prefix string, remove func(string) error) (int, error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return 0, nil // toolhosts cannot have made groups there
	}
	var swept int
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() || !claimed.HasForm(entry.Name(), prefix) {
			continue
		}
		done, err := claimed.RemoveUnclaimed(filepath.Join(parent, entry.Name()), remove)
		if done {
			swept++
		}
		errs = append(errs, err)
	}
	return swept, errors.Join(errs...)
}
