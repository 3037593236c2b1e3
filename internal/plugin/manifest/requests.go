package manifest

import (
	"math"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

func parsePermissions(n yamldoc.Node) (Permissions, error) {
	fields, err := n.Fields("permissions", "network", "workspace", "read", "write")
	if err != nil {
		return Permissions{}, err
	}
	var p Permissions
	for _, f := range fields {
		switch f.Key {
		case "network":
			p.Network, err = f.Value.Bool("network")
		case "workspace":
			p.Workspace, err = f.Value.Choice("workspace", AccessNone, AccessRead, AccessWrite)
		case "read":
			p.Read, err = parsePaths("read", f.Value)
		case "write":
			p.Write, err = parsePaths("write", f.Value)
		}
		if err != nil {
			return Permissions{}, err
		}
	}
	return p, nil
}

func parsePaths(what string, n yamldoc.Node) ([]string, error) {
	paths, err := n.Texts(what)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			return nil, n.Errorf("the path %q of %s is not absolute", path, what)
		}
		paths[i] = filepath.Clean(path)
	}
	return paths, nil
}

func parseLimits(n yamldoc.Node) (Limits, error) {
	const mostCPUs = 1024
	fields, err := n.Fields("limits", "memory", "cpu", "processes", "open_files", "file_size")
	if err != nil {
		return Limits{}, err
	}
	var l Limits
	for _, f := range fields {
		switch f.Key {
		case "memory":
			l.MemoryBytes, err = f.Value.Bytes("memory")
		case "cpu":
			l.CPUs, err = f.Value.Number("cpu", mostCPUs)
		case "processes":
			l.Processes, err = f.Value.Whole("processes", 1, math.MaxInt32)
		case "open_files":
			l.OpenFiles, err = f.Value.Whole("open_files", 1, math.MaxInt32)
		case "file_size":
			l.FileSizeBytes, err = f.Value.Bytes("file_size")
		}
		if err != nil {
			return Limits{}, err
		}
	}
	return l, nil
}
