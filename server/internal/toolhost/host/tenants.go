package host

import (
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// visibleEvent reports whether an operator of some tenants may see an event. Events of instances,
// of backoff and of quarantine concern one tenant, because each tenant has its own instances. Other
// events, such as an upgrade, concern the plugin and thereby all tenants. An instance without a
// tenant belongs to the default tenant: an earlier toolhost stored its event.
func visibleEvent(e *tool.PluginEvent, tenants tool.Tenants) bool {
	switch {
	case e.Tenant != "":
		return tenants.Contain(e.Tenant)
	case e.Instance != "":
		return tenants.Contain(identity.DefaultTenant)
	}
	return true
}
