package tool

// Access is what may be done with files. The zero value is AccessNone.
type Access string

// The kinds of access, each more than the one before it.
const (
	AccessNone  Access = "none"
	AccessRead  Access = "read"  // and execute
	AccessWrite Access = "write" // and read and execute
)

// Permissions are what a plugin asks to be allowed, besides what every plugin may. The zero value asks for nothing. Only the
// operator's configuration grants anything.
type Permissions struct {
	Network   bool     `json:"network,omitempty"`
	Workspace Access   `json:"workspace,omitempty"` // what it wants to do in the workspace; empty: nothing
	Read      []string `json:"read,omitempty"`      // absolute paths of further files and folders that it wants to read
	Write     []string `json:"write,omitempty"`     // absolute paths of further files and folders that it wants to change
}

// IsZero reports whether nothing is asked for.
func (p Permissions) IsZero() bool {
	return !p.Network && (p.Workspace == "" || p.Workspace == AccessNone) && len(p.Read)+len(p.Write) == 0
}

// Ungranted is something that a plugin asks for and the operator has not granted.
type Ungranted struct {
	Request string `json:"request"` // in words
	Grant   string `json:"grant"`   // the line of toolhost.yaml that grants it
}

// Sandbox is what a plugin process may touch besides the system's libraries, its executable and a folder of its own, and what
// keeps it from the rest.
type Sandbox struct {
	Mode      string `json:"mode"`      // on, required or off
	Network   bool   `json:"network"`   // whether it was granted toolhost's own network
	Workspace Access `json:"workspace"` // what it may do there
	// Read and Write are further files and folders: those that were granted, and where its interpreter is installed.
	Read   []string       `json:"read,omitempty"`
	Write  []string       `json:"write,omitempty"`
	Layers []SandboxLayer `json:"layers,omitempty"` // those that there are to be; empty if the mode is off
}

// SandboxLayer is one part of a sandbox as it really is on this machine.
type SandboxLayer struct {
	Name      string `json:"layer"` // files, landlock, network, pid, ipc, privileges, syscalls
	Effective bool   `json:"effective"`
	Mechanism string `json:"mechanism,omitempty"` // what it is made of, in words; empty if it is not effective
	Note      string `json:"note,omitempty"`      // why it is not effective, or what it cannot do
}
