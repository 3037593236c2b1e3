package operate

import (
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/tool"
)

// tenantFlag adds the flag that selects tenants. what names the things that the command shows. A
// server shows a caller no other tenants than its bindings permit, with or without the flag.
func tenantFlag(flags *pflag.FlagSet, tenants *tool.Tenants, what string) {
	flags.StringArrayVar((*[]string)(tenants), "tenant", nil, "only "+what+" of this `TENANT`; may be given more than once")
}
