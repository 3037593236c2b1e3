package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// Watch starts to look at the folders again and again, each WatchInterval, and at the lock file if Locked, and loads them
// when something has changed.
// What has changed is read once two looks have found it the same, so that a plugin that is being copied there is not
// read half. It ends with Close.
//
// It looks instead of being told by the system: that works on every system and file system, network folders and those
// of containers included, and costs about a millisecond for a thousand plugins. In a folder plugin of more than a
// thousand files not all are looked at.
func (c *Catalog) Watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spawn(c.watch) // ends with c.ctx
}

// maxLooked bounds how many files of a folder plugin each look takes in.
const maxLooked = 1000

func (c *Catalog) watch() {
	ticker := time.NewTicker(c.cfg.WatchInterval)
	defer ticker.Stop()
	// Nothing is taken for loaded at first: what changed since Load would be missed.
	var loaded, last map[string]string
	complaint := ""
	for {
		select {
		case <-ticker.C:
		case <-c.ctx.Done():
			return
		}
		now := c.lookAll()
		moving, changed := compareLooks(loaded, last, now)
		last = now
		if !changed {
			continue
		}
		err := c.load(c.ctx, loadOptions{leave: moving})
		if err != nil && c.ctx.Err() == nil && err.Error() != complaint {
			complaint = err.Error() // once: it is tried again at each look
			c.cfg.Logger.Warn("changed plugins are not loaded; trying on", "error", err)
		}
		if err == nil {
			loaded, complaint = afterLoad(loaded, now, moving), ""
		}
	}
}

// afterLoad returns what is loaded once all but what was moving is.
func afterLoad(loaded, now map[string]string, moving map[string]bool) map[string]string {
	next := maps.Clone(now)
	for source := range moving {
		delete(next, source)
		if was, ok := loaded[source]; ok {
			next[source] = was
		}
	}
	return next
}

// compareLooks returns the sources that differ between the last two looks, and whether one that does not differs from
// what is loaded.
func compareLooks(loaded, last, now map[string]string) (moving map[string]bool, changed bool) {
	moving = map[string]bool{}
	for source, look := range now {
		if last[source] != look {
			moving[source] = true
		} else if loaded[source] != look {
			changed = true
		}
	}
	for source := range last {
		if _, there := now[source]; !there {
			moving[source] = true
		}
	}
	for source := range loaded {
		_, there := now[source]
		if _, was := last[source]; !there && !was {
			changed = true
		}
	}
	return moving, changed
}

// lookAll returns for each source in the folders, and for the lock file if it counts, what tells whether it is still the
// same. A folder that cannot be read counts as one without plugins; loading it says why.
func (c *Catalog) lookAll() map[string]string {
	looks := map[string]string{}
	if c.cfg.Locked {
		if info, err := os.Stat(c.cfg.LockFile); err == nil {
			looks[c.cfg.LockFile] = stampOf(info)
		}
	}
	for _, folder := range c.cfg.Folders {
		entries, _, err := scan(c.ctx, folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			looks[e.source] = e.stamp + e.problem
			if e.folder {
				looks[e.source] = lookInto(c.ctx, e.source)
			}
		}
	}
	return looks
}

// lookInto returns what tells whether a folder plugin is still the same.
func lookInto(ctx context.Context, dir string) string {
	hash := sha256.New()
	looked := 0
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			fmt.Fprintf(hash, "%q %v\n", path, err)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case path != dir && passedOver(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if looked++; looked > maxLooked {
			return fs.SkipAll
		}
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			fmt.Fprintf(hash, "%q %s\n", path, stampOf(info))
		}
		return nil
	})
	return hex.EncodeToString(hash.Sum(nil))
}
