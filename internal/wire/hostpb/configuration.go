package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/tool"
)

// FromConfigurationChange converts the change of a configuration.
func FromConfigurationChange(c *tool.ConfigurationChange) *toolhostv1.ConfigurationChange {
	out := &toolhostv1.ConfigurationChange{File: valid(c.File), Keys: valids(c.Keys), Problem: valid(c.Problem)}
	for _, s := range c.Changes {
		out.Changes = append(out.Changes, &toolhostv1.SettingChange{Key: valid(s.Key), Old: valid(s.Old), New: valid(s.New), Restart: s.Restart})
	}
	return out
}

// ToConfigurationChange converts the change of a configuration.
func ToConfigurationChange(c *toolhostv1.ConfigurationChange) *tool.ConfigurationChange {
	out := &tool.ConfigurationChange{File: c.GetFile(), Keys: c.GetKeys(), Changes: []tool.SettingChange{}, Problem: c.GetProblem()}
	for _, s := range c.GetChanges() {
		out.Changes = append(out.Changes, tool.SettingChange{Key: s.GetKey(), Old: s.GetOld(), New: s.GetNew(), Restart: s.GetRestart()})
	}
	return out
}
