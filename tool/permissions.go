package tool

// Access is the access to files. The zero value means AccessNone.
type Access string

// The kinds of access. Each includes the one before it.
const (
	AccessNone  Access = "none"
	AccessRead  Access = "read"  // read and execute
	AccessWrite Access = "write" // change, read and execute
)

// Permissions are the permissions that a plugin requests in addition to those of every plugin. The
// zero value requests none. Only the operator's configuration grants permissions.
type Permissions struct {
	Network   bool   `json:"network,omitempty"`
	Workspace Access `json:"workspace,omitempty"` // the access to the workspace; empty: none
	// absolute paths of further files and folders to read
	Read []string `json:"read,omitempty"`
	// absolute paths of further files and folders to change
	Write []string `json:"write,omitempty"`
}

// IsZero reports whether the plugin requests nothing.
func (p Permissions) IsZero() bool {
	return !p.Network && (p.Workspace == "" || p.Workspace == AccessNone) && len(p.Read)+len(p.Write) == 0
}

// Folders are the folders in which a toolhost's plugins work, as absolute paths on its machine.
type Folders struct {
	Workspace string   // empty: toolhost has none
	Writable  []string // folders that at least one plugin may write; empty: none
	// Hidden are folders that no sandboxed plugin may access, even if they are in a writable folder:
	// toolhost's state and the trust records of its user.
	Hidden []string
}

// Ungranted is a request of a plugin that the operator has not granted.
type Ungranted struct {
	Request string `json:"request"` // the request as a sentence
	Grant   string `json:"grant"`   // the line of toolhost.yaml that grants it
}

// Sandbox describes what a plugin process may access in addition to the system's libraries, its
// executable and a private folder, and which layers enforce that.
type Sandbox struct {
	Mode      string `json:"mode"`      // on, required, off, or SandboxNone
	Network   bool   `json:"network"`   // it has toolhost's network
	Workspace Access `json:"workspace"` // the access to the workspace
	// WorkspaceBackend is where the workspace is: local, memory or remote. Empty: there is none.
	WorkspaceBackend string `json:"workspace_backend,omitempty"`
	// Read and Write are further files and folders: those that the operator granted, and the
	// installation of the interpreter.
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	// the layers that the mode selects; empty if the mode is off
	Layers []SandboxLayer `json:"layers,omitempty"`
}

// LocalWorkspace is the WorkspaceBackend of a folder of toolhost's machine.
const LocalWorkspace = "local"

// SandboxNone is the Mode of an instance without a process.
const SandboxNone = "none"

// SandboxLayer is one layer of a sandbox as this machine provides it.
type SandboxLayer struct {
	Name      string `json:"layer"` // files, landlock, network, pid, ipc, privileges, syscalls
	Effective bool   `json:"effective"`
	// the mechanism of the kernel; empty if the layer is not effective
	Mechanism string `json:"mechanism,omitempty"`
	Note      string `json:"note,omitempty"` // why it is not effective, or what it cannot do
}
