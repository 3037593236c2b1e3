package hostpb

import (
	"strings"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/tool"
)

// The words of package tool are those of the proto, without its prefix and in small letters; a test holds them to that.
const (
	pluginPrefix   = "PLUGIN_STATE_"
	instancePrefix = "INSTANCE_STATE_"
)

func fromPluginState(s tool.PluginState) toolhostv1.PluginState {
	return toolhostv1.PluginState(toolhostv1.PluginState_value[pluginPrefix+strings.ToUpper(string(s))])
}

// toPluginState returns "" for a state that is not set or not known.
func toPluginState(s toolhostv1.PluginState) tool.PluginState {
	return tool.PluginState(word(toolhostv1.PluginState_name[int32(s)], pluginPrefix))
}

func fromInstanceState(s tool.InstanceState) toolhostv1.InstanceState {
	return toolhostv1.InstanceState(toolhostv1.InstanceState_value[instancePrefix+strings.ToUpper(string(s))])
}

// toInstanceState returns "" for a state that is not set or not known.
func toInstanceState(s toolhostv1.InstanceState) tool.InstanceState {
	return tool.InstanceState(word(toolhostv1.InstanceState_name[int32(s)], instancePrefix))
}

func word(name, prefix string) string {
	name = strings.TrimPrefix(name, prefix)
	if name == "UNSPECIFIED" {
		return ""
	}
	return strings.ToLower(name)
}
