package sdk

// CloseServedWorkspace closes the connection to the workspace at a socket, which a process keeps
// until it ends. In tests it would try to connect again for ever.
func CloseServedWorkspace() error {
	served.mu.Lock()
	defer served.mu.Unlock()
	conn := served.conn
	served.conn, served.socket, served.opened = nil, "", nil
	if conn == nil {
		return nil
	}
	return conn.Close()
}
