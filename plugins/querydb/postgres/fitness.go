package postgres

import (
	"context"
	"fmt"
	"strings"
)

// BeyondReading matches the names of PostgreSQL's built-in functions that do more than read even in
// a read-only transaction: they wait, lock, signal, notify, access files, or have a lasting effect.
// It is a regular expression of PostgreSQL. docs/query_db.md has the statement that revokes these
// functions from PUBLIC.
const BeyondReading = `^(` +
	`pg_(try_)?advisory_.*|pg_sleep.*|pg_notify|pg_(cancel|terminate)_backend|pg_log_backend_memory_contexts|` +
	`lo_(creat|create|export|from_bytea|import|open|put|truncate|truncate64|unlink)|lowrite|` +
	`txid_current|pg_current_xact_id|pg_export_snapshot|pg_logical_emit_message|` +
	`pg_read_(binary_)?file.*|pg_ls_.*dir.*|pg_stat_file|pg_file_.*|` +
	`pg_reload_conf|pg_rotate_logfile.*|pg_switch_wal|pg_create_restore_point|pg_(start|stop)_backup|pg_backup_(start|stop)|` +
	`pg_promote|pg_wal_replay_(pause|resume)|pg_(create|drop|copy)_.*replication_slot|pg_replication_slot_advance|` +
	`pg_logical_slot_.*|pg_replication_origin_.*|pg_sync_replication_slots|` +
	`pg_stat_reset.*|pg_(clear|restore)_.*_stats|brin_(de)?summarize_.*|gin_clean_pending_list|pg_import_system_collations` +
	`)$`

// fitness queries which rights the role has that a reader must not have. Each column is empty if
// the role is fit.
//
// User-defined functions count if they are written in an unsafe language such as C and are not
// declared immutable or stable, as those of dblink. All others run under the rules of the read-only
// transaction.
const fitness = `
SELECT
	CASE WHEN r.rolname = session_user AND session_user::text = $1 THEN '' ELSE session_user::text END,
	concat_ws(', ', CASE WHEN r.rolsuper THEN 'SUPERUSER' END, CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END,
		CASE WHEN r.rolcreatedb THEN 'CREATEDB' END, CASE WHEN r.rolreplication THEN 'REPLICATION' END,
		CASE WHEN r.rolbypassrls THEN 'BYPASSRLS' END),
	(SELECT string_agg(m.rolname, ', ' ORDER BY m.rolname) FROM pg_catalog.pg_roles m
		WHERE m.oid <> r.oid AND pg_catalog.pg_has_role(r.oid, m.oid, 'MEMBER')
		AND (m.rolcanlogin OR m.rolsuper OR m.rolcreaterole OR m.rolbypassrls OR m.rolreplication OR m.rolname ~ '^pg_' AND m.rolname <> 'pg_database_owner')),
	(SELECT string_agg(f.name, ', ') FROM (
		SELECT p.oid::pg_catalog.regprocedure::text AS name
		FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace JOIN pg_catalog.pg_language l ON l.oid = p.prolang
		WHERE pg_catalog.has_function_privilege(p.oid, 'EXECUTE') AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
		AND p.proname <> ALL (pg_catalog.string_to_array($2, ','))
		AND CASE WHEN n.nspname = 'pg_catalog' AND p.oid < 16384 THEN p.proname ~ $3 ELSE p.provolatile = 'v' AND NOT l.lanpltrusted END
		ORDER BY p.proname, p.oid LIMIT 10) f)
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`

// check refuses a role that is not fit. It does not use the role's search path.
func (s *session) check(ctx context.Context, role Role) error {
	for _, statement := range []string{"SAVEPOINT toolhost_check", "SET LOCAL search_path = pg_catalog, pg_temp"} {
		if err := s.conn.Exec(ctx, statement).Close(); err != nil {
			return explained(ctx, err)
		}
	}
	rows, err := s.texts(ctx, fitness, role.Name, strings.Join(role.AllowFunctions, ","), BeyondReading)
	if err != nil {
		return fmt.Errorf("asking what the role may do: %w", err)
	}
	if len(rows) != 1 {
		return fmt.Errorf("%w: what %q may do cannot be told", ErrUnfit, role.Name)
	}
	for i, format := range []string{
		"logged in as %s, not as the role that was asked for",
		"it has %s; take that from it by ALTER ROLE",
		"it can become %s; take that from it by REVOKE",
		"it may execute %s; docs/query_db.md says how to take these functions from it, or name them in allow_functions",
	} {
		if found := rows[0][i]; found != "" {
			return fmt.Errorf("%w: role %q: "+format, ErrUnfit, role.Name, found)
		}
	}
	// This also restores the search path.
	if err := s.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT toolhost_check").Close(); err != nil {
		return explained(ctx, err)
	}
	return nil
}
