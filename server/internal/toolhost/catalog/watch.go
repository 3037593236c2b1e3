package catalog

import (
	"maps"
	"time"
)

// Watch starts a goroutine that looks at the folders every WatchInterval, and at the lock file if
// Locked, and loads changes. It reads a change after two looks have found the same, so that it does
// not read a plugin that is still being copied. Close ends the goroutine.
//
// Watch polls instead of using notifications of the system. Polling works on every system and file
// system, including network folders and those of containers, and costs about a millisecond for a
// thousand plugins. In a plugin folder, each look covers the nearLooked files nearest to the top. A
// look covers all files once for every nearLooked files in the folder.
func (c *Catalog) Watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks.spawn(c.watch) // ends with c.tasks.ctx
}

func (c *Catalog) watch() {
	ticker := time.NewTicker(c.cfg.WatchInterval)
	defer ticker.Stop()
	// At first no source counts as loaded. Otherwise Watch would miss a change between Load and its
	// first look.
	var loaded, last map[string]string
	complaint := ""
	var folders folderLooks
	for {
		select {
		case <-ticker.C:
		case <-c.tasks.ctx.Done():
			return
		}
		now := c.sources.lookAll(c.tasks.ctx, &folders)
		moving, changed := compareLooks(loaded, last, now)
		last = now
		if !changed {
			continue
		}
		err := c.load(c.tasks.ctx, loadOptions{leave: moving})
		if err != nil && c.tasks.ctx.Err() == nil && err.Error() != complaint {
			complaint = err.Error() // logged once: Watch tries again at each look
			c.cfg.Logger.Warn("changed plugins are not loaded; trying on", "error", err)
		}
		if err == nil {
			loaded, complaint = afterLoad(loaded, now, moving), ""
		}
	}
}

// afterLoad returns the looks that belong to the loaded content, after a load of every source that
// was not still changing.
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

// compareLooks returns the sources that differ between the last two looks (moving). changed reports
// whether another source differs from what is loaded.
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
