import type { Client } from 'pg';

/** The version of the schema that this release writes. */
const ownVersion = 1;

/**
 * The table, its change feed, and the functions that write both, in the schema that is first on the search path.
 *
 * - A key is one value, in the encoding of item-key.ts: its bytes sort as those of the partition key and then those of the sort key do,
 *   whatever the collation.
 * - `read_locked` takes the locks of a write before it reads. They are advisory, as a row that does not exist cannot be locked; of the
 *   transaction, as poolers pass connections on after each; and in the order of their numbers, so that no two writes wait for each other.
 *   Items that are only checked are locked for sharing, which writes nothing, unlike a lock of a row: the item of a bucket is checked by
 *   every write in it.
 * - `incarnation` names the time from one crash of the server to the next, as the server empties an unlogged table when it recovers, and a standby
 *   has none of its rows (https://www.postgresql.org/docs/15/sql-createtable.html#SQL-CREATETABLE-UNLOGGED). Numbers of transactions mean the
 *   same for as long only: one whose records were not yet on the disk is given out again.
 * - Positions of the feed are taken while the locks are held. Those of one item therefore rise in the order of its changes.
 *
 * Functions are parsed by the server: in a function of PL/pgSQL, each statement sees what was committed before it, which the read after the
 * locks needs. https://www.postgresql.org/docs/15/xfunc-volatility.html
 */
const tables = `
create table items (k bytea primary key, v bytea not null) with (fillfactor = 85);
alter table items alter column v set storage external;
create table feed (
  position bigint primary key, at bigint not null, k bytea not null, old bytea, new bytea
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
create sequence feed_position;
create unlogged table incarnation (one boolean primary key default true, id uuid not null default gen_random_uuid());

create function read_locked(keys bytea[], locks bigint[], are_shared boolean[], patience text)
returns table (v bytea, xid text, incarnation uuid) language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  key bytea;
begin
  perform set_config('lock_timeout', patience, true), set_config('idle_in_transaction_session_timeout', '30000', true);
  for n in 1 .. cardinality(locks) loop
    if are_shared[n] then perform pg_advisory_xact_lock_shared(locks[n]);
    else perform pg_advisory_xact_lock(locks[n]);
    end if;
  end loop;
  -- The transaction has its number before it takes a position: feed-horizon.ts.
  xid := pg_current_xact_id()::text;
  select id into incarnation from incarnation;
  if not found then
    insert into incarnation default values on conflict do nothing;
    select id into incarnation from incarnation;
  end if;
  foreach key in array keys loop
    v := null;
    select items.v into v from items where k = key;
    return next;
  end loop;
end $$;

create function change(keys bytea[], vals bytea[], are_followed boolean[])
returns bigint language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  former bytea;
  newest bigint;
begin
  for n in 1 .. cardinality(keys) loop
    former := null;
    select items.v into former from items where k = keys[n];
    if former is null and vals[n] is null then continue;
    elsif vals[n] is null then delete from items where k = keys[n];
    elsif former is null then insert into items values (keys[n], vals[n]);
    else update items set v = vals[n] where k = keys[n];
    end if;
    if are_followed[n] then
      newest := nextval('feed_position');
      insert into feed values (
        newest, (extract(epoch from clock_timestamp()) * 1000)::bigint, keys[n], former, vals[n]
      );
    end if;
  end loop;
  return newest;
end $$;

create function put_or_delete(key bytea, val bytea, is_followed boolean, lock bigint, patience text)
returns table (former bytea, newest bigint) language plpgsql set search_path from current as $$
begin
  select v into former from read_locked(array[key], array[lock], array[false], patience);
  newest := change(array[key], array[val], array[is_followed]);
  return next;
end $$;
`;

/** Changes from each version of the schema to the next one. A release reads and writes what the one before it does while both run. */
const steps: readonly string[] = [tables];

/**
 * Brings the schema to this version. Several processes may do so at a time.
 * @param schema its name
 * @throws Error if a later release has marked it as not to be used by this one
 */
export async function migrate(client: Client, schema: string): Promise<void> {
  const name = client.escapeIdentifier(schema);
  await client.query('begin');
  await client.query("select pg_advisory_xact_lock(hashtextextended('stillage schema ' || $1, 0))", [schema]);
  // Without the right to create it, which one that is there does not need.
  const { rows } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`create schema ${name}`);
  await client.query(`set local search_path to ${name}`);
  await client.query('create table if not exists schema_version (version int not null, least_release int not null)');
  const found = await client.query<{ version: number; least_release: number }>('select * from schema_version');
  const { version, least_release: least } = found.rows[0] ?? { version: 0, least_release: 1 };
  if (least > ownVersion) {
    throw new Error(`a later release has changed the schema ${schema}: use that release, or a later one`);
  }
  for (const step of steps.slice(version)) await client.query(step);
  if (version === 0) await client.query('insert into schema_version values ($1, 1)', [ownVersion]);
  else if (version < ownVersion) await client.query('update schema_version set version = $1', [ownVersion]);
  await client.query('commit');
}
