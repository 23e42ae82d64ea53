import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { allStartOptions } from '../../shared/command-line/option.ts';

/*
 * The files of deploy/, which no cluster has run: their form by schemas of what they use, what they refer to, and what they tell the service.
 */
const folder = join(import.meta.dirname, '../../deploy');
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');

const options = new Map(allStartOptions().map((option) => [option.envVar!, option]));
const otherVariables = ['STILLAGE_ACCESS_KEY', 'STILLAGE_SECRET_KEY'];

/** Reads the variables of a service as it does at its start. @throws InvalidArgumentError */
function expectRead(environment: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('STILLAGE_') || otherVariables.includes(name)) continue;
    const option = options.get(name);
    expect(option, name).toBeDefined();
    const values =
      option!.description.endsWith('(repeatable)') && name !== 'STILLAGE_LIMIT' ? value.split(',') : [value];
    for (const one of values) option!.parseArg?.(one, undefined);
  }
}

/** What a service of many machines must be told. */
const needed = [
  'STILLAGE_HOST',
  'STILLAGE_DOMAIN',
  'STILLAGE_TABLE',
  'STILLAGE_BLOBS',
  'STILLAGE_KEY_FILE',
  'PGPASSWORD',
];

const duration = z.string().regex(/^\d+s$/);
const server = z.strictObject({
  image: z.string(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  user: z.string().optional(),
  network_mode: z.literal('none').optional(),
  init: z.boolean().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string().regex(/^\d+:\d+$/)).optional(),
  volumes: z.array(z.string().regex(/^[^:]+:\/[^:]+(:ro)?$/)).optional(),
  depends_on: z
    .union([
      z.array(z.string()),
      z.record(
        z.string(),
        z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }),
      ),
    ])
    .optional(),
  healthcheck: z
    .strictObject({ test: z.array(z.string()), interval: duration, retries: z.int().positive() })
    .optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.string().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  stop_grace_period: duration.optional(),
  restart: z.enum(['unless-stopped']).optional(),
});
const composeFile = z.strictObject({
  'x-server': z.unknown(),
  services: z.record(z.string(), server),
  networks: z.strictObject({
    default: z.strictObject({ ipam: z.strictObject({ config: z.array(z.strictObject({ subnet: z.cidrv4() })) }) }),
  }),
  volumes: z.record(z.string(), z.null()),
});

/** Puts values in the place of `${NAME}` and `${NAME:?why}`. */
const interpolated = (value: string): string =>
  value.replaceAll(/\$\{([A-Z_]+)(?::\?[^}]*)?\}/g, (_, name) => (name === 'DOMAIN' ? 's3.example.com' : 'x'));

describe('deploy/compose.yaml', () => {
  const file = composeFile.parse(parse(text('compose.yaml'), { merge: true }));
  const { services, volumes, networks } = file;

  it('refers to what it declares', () => {
    const images = new Set(['stillage-many', 'caddy:2', 'postgres:15']);
    const mounted = new Set<string>();
    for (const [name, { image, volumes: mounts = [], depends_on: others = [] }] of Object.entries(services)) {
      expect(images, name).toContain(image);
      for (const other of Array.isArray(others) ? others : Object.keys(others))
        expect(services).toHaveProperty([other]);
      for (const [source] of mounts.map((mount) => mount.split(':'))) {
        if (source!.startsWith('./')) expect(text(source!).length).toBeGreaterThan(0);
        else mounted.add(source!);
      }
    }
    expect([...mounted].toSorted()).toEqual(Object.keys(volumes).toSorted());
  });

  it('starts servers by options that they take, which trust its network and find its stores', () => {
    for (const name of ['stillage-1', 'stillage-2', 'blobs']) {
      const environment = services[name]!.environment!;
      expectRead(Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, interpolated(value)])));
    }
    const { environment, volumes: mounts } = services['stillage-1']!;
    expect(services['stillage-2']).toEqual(services['stillage-1']);
    for (const name of needed) expect(environment).toHaveProperty(name);
    expect(environment!['STILLAGE_TRUST_PROXY']).toBe(networks.default.ipam.config[0]!.subnet);
    const [table, blobs] = [environment!['STILLAGE_TABLE']!, environment!['STILLAGE_BLOBS']!].map(
      (url) => new URL(url),
    );
    const { postgres } = services;
    expect([table!.hostname, table!.username, table!.pathname]).toEqual([
      'postgres',
      postgres!.environment!['POSTGRES_USER'],
      `/${postgres!.environment!['POSTGRES_DB']}`,
    ]);
    expect(new URL(blobs!.searchParams.get('endpoint')!).host).toBe('blobs:9000');
    expect(blobs!.hostname).toBe(services['blobs']!.environment!['STILLAGE_BUCKETS']);
    expect(environment!['AWS_SECRET_ACCESS_KEY']).toMatch(/BLOBS_SECRET_KEY/);
    expect(mounts).toEqual(['key:/key']);
    expect(environment!['STILLAGE_KEY_FILE']).toMatch(/^\/key\//);
  });

  it('has Caddy lead to all servers, by the paths of their health', () => {
    const caddyfile = text('Caddyfile');
    const [, upstreams] = /reverse_proxy (.*) \{/.exec(caddyfile)!;
    const servers = Object.entries(services).filter(([, { environment = {} }]) => 'STILLAGE_TABLE' in environment);
    expect(upstreams!.split(' ')).toEqual(servers.map(([name]) => `${name}:9000`));
    // What the recipe for one server needs is needed here.
    for (const line of ['flush_interval -1', 'header_down -Server', 'compression off', 'keepalive 60s']) {
      expect(caddyfile).toContain(line);
      expect(readFileSync(join(folder, '../docs/recipes/Caddyfile'), 'utf8')).toContain(line);
    }
    expect(caddyfile).toContain('health_uri /_stillage/health');
  });
});

const metadata = z.strictObject({
  name: z.string(),
  namespace: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
});
const labels = z.strictObject({ 'app.kubernetes.io/name': z.literal('stillage') });
const quantity = z.string().regex(/^\d+(m|Mi|Gi)?$/);
const resources = z.strictObject({
  requests: z.strictObject({ cpu: quantity, memory: quantity }),
  limits: z.strictObject({ memory: quantity }),
});
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.enum(['/_stillage/live', '/_stillage/health']), port: z.string() }),
  periodSeconds: z.int().positive(),
  timeoutSeconds: z.int().positive().optional(),
  failureThreshold: z.int().positive(),
});
const variable = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({
    name: z.string(),
    valueFrom: z.strictObject({ secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }) }),
  }),
]);
const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).optional(),
  env: z.array(variable).default([]),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })).default([]),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  startupProbe: probe.optional(),
  lifecycle: z
    .strictObject({ preStop: z.strictObject({ exec: z.strictObject({ command: z.array(z.string()) }) }) })
    .optional(),
  // What the level `restricted` of the pod security standards asks for.
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  resources,
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() })),
});
const volume = z.union([
  z.strictObject({
    name: z.string(),
    secret: z.strictObject({
      secretName: z.string(),
      defaultMode: z.int().optional(),
      items: z.array(z.strictObject({ key: z.string(), path: z.string() })).optional(),
    }),
  }),
  z.strictObject({
    name: z.string(),
    emptyDir: z.strictObject({ medium: z.literal('Memory').optional(), sizeLimit: quantity.optional() }),
  }),
]);
const pod = z.strictObject({
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.int(),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.literal(1000),
    runAsGroup: z.int(),
    fsGroup: z.int(),
    seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
  }),
  topologySpreadConstraints: z.array(
    z.strictObject({
      maxSkew: z.int().positive(),
      topologyKey: z.string(),
      whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
      labelSelector: z.strictObject({ matchLabels: labels }),
    }),
  ),
  initContainers: z.array(container),
  containers: z.array(container),
  volumes: z.array(volume),
});
const manifest = z.discriminatedUnion('kind', [
  z.strictObject({ apiVersion: z.literal('v1'), kind: z.literal('Namespace'), metadata }),
  z.strictObject({
    ...{ apiVersion: z.literal('v1'), kind: z.literal('Secret'), metadata, type: z.literal('Opaque') },
    data: z.record(z.string(), z.string()).optional(),
    stringData: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('apps/v1'), kind: z.literal('Deployment'), metadata },
    spec: z.strictObject({
      replicas: z.int().min(2),
      selector: z.strictObject({ matchLabels: labels }),
      strategy: z.strictObject({
        type: z.literal('RollingUpdate'),
        rollingUpdate: z.strictObject({ maxSurge: z.int().positive(), maxUnavailable: z.literal(0) }),
      }),
      template: z.strictObject({ metadata: z.strictObject({ labels }), spec: pod }),
    }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('v1'), kind: z.literal('Service'), metadata },
    spec: z.strictObject({
      selector: labels,
      ports: z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: z.string() })),
    }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('policy/v1'), kind: z.literal('PodDisruptionBudget'), metadata },
    spec: z.strictObject({ maxUnavailable: z.literal(1), selector: z.strictObject({ matchLabels: labels }) }),
  }),
  // https://cloudnative-pg.io/documentation/1.25/cloudnative-pg.v1/#postgresql-cnpg-io-v1-ClusterSpec
  z.strictObject({
    ...{ apiVersion: z.literal('postgresql.cnpg.io/v1'), kind: z.literal('Cluster'), metadata },
    spec: z.strictObject({
      instances: z.int().min(2),
      imageName: z.string(),
      bootstrap: z.strictObject({ initdb: z.strictObject({ database: z.string(), owner: z.string() }) }),
      postgresql: z.strictObject({
        synchronous: z.strictObject({
          method: z.enum(['any', 'first']),
          number: z.int().positive(),
          dataDurability: z.literal('required'),
        }),
        parameters: z.record(z.string(), z.string()),
      }),
      affinity: z.strictObject({ enablePodAntiAffinity: z.boolean(), topologyKey: z.string() }),
      storage: z.strictObject({ size: quantity }),
    }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'), kind: z.literal('Kustomization') },
    namespace: z.literal('stillage'),
    resources: z.array(z.string()),
  }),
]);
type Kind = z.infer<typeof manifest>['kind'];
type Of<Name extends Kind> = Extract<z.infer<typeof manifest>, { kind: Name }>;

describe('deploy/kubernetes', () => {
  const names = readdirSync(join(folder, 'kubernetes'));
  const manifests = names.flatMap((name) =>
    parseAllDocuments(text(join('kubernetes', name)), { merge: true, strict: true }).map((document) => {
      expect(document.errors, name).toEqual([]);
      return manifest.parse(document.toJS());
    }),
  );
  const all = <Name extends Kind>(kind: Name): readonly Of<Name>[] =>
    manifests.filter((one): one is Of<Name> => one.kind === kind);
  const only = <Name extends Kind>(kind: Name): Of<Name> => {
    expect(all(kind)).toHaveLength(1);
    return all(kind)[0]!;
  };
  const deployment = only('Deployment').spec.template.spec;
  const [server] = deployment.containers;
  const cluster = only('Cluster');

  it('has each file in the kustomization, but the templates of secrets', () => {
    const listed = ['kustomization.yaml', 'secrets.yaml', ...only('Kustomization').resources];
    expect(listed.toSorted()).toEqual(names.toSorted());
    expect(
      all('Secret').flatMap(({ data = {}, stringData = {} }) => [...Object.values(data), ...Object.values(stringData)]),
    ).toEqual(['', '', '']);
  });

  it('mounts volumes that are there, of secrets that are described', () => {
    const volumes = new Map(deployment.volumes.map((one) => [one.name, one]));
    for (const { volumeMounts } of [...deployment.initContainers, ...deployment.containers]) {
      for (const { name } of volumeMounts) expect(volumes.has(name), name).toBe(true);
    }
    // The operator of the cluster makes its own.
    const own = [`${cluster.metadata.name}-app/password`, `${cluster.metadata.name}-ca/ca.crt`];
    const described = all('Secret').flatMap(({ metadata: { name }, data = {}, stringData = {} }) =>
      Object.keys({ ...data, ...stringData }).map((key) => `${name}/${key}`),
    );
    const used = server!.env.flatMap((one) =>
      'valueFrom' in one ? [`${one.valueFrom.secretKeyRef.name}/${one.valueFrom.secretKeyRef.key}`] : [],
    );
    for (const one of used) expect([...own, ...described]).toContain(one);
    for (const one of deployment.volumes) {
      if (!('secret' in one)) continue;
      const { secretName, items } = one.secret;
      const keys = items?.map(({ key }) => key) ?? ['master.key'];
      for (const key of keys) expect([...own, ...described]).toContain(`${secretName}/${key}`);
    }
  });

  it('gives the server a key that it alone can read, where its options say', () => {
    const [init] = deployment.initContainers;
    const [program, , mode, from, to] = init!.command!;
    expect([program, mode]).toEqual(['install', '600']);
    const mounts = new Map(init!.volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
    expect([from, to]).toEqual([`${mounts.get('secret')}/master.key`, `${mounts.get('key')}/master.key`]);
    const environment = Object.fromEntries(server!.env.map((one) => [one.name, 'value' in one ? one.value : 'x']));
    expect(environment['STILLAGE_KEY_FILE']).toBe(to);
    for (const name of needed) expect(environment).toHaveProperty(name);
    expectRead(environment);
    const table = new URL(environment['STILLAGE_TABLE']!);
    const { database, owner } = cluster.spec.bootstrap.initdb;
    expect([table.hostname, table.pathname, table.username]).toEqual([
      `${cluster.metadata.name}-rw`,
      `/${database}`,
      owner,
    ]);
    const ca = server!.volumeMounts.find(({ name }) => name === 'ca')!.mountPath;
    expect([table.searchParams.get('sslmode'), table.searchParams.get('sslrootcert')]).toEqual([
      'verify-full',
      `${ca}/ca.crt`,
    ]);
  });

  it('asks the port of the server how it is, and ends it no sooner than it ends by itself', () => {
    const ports = server!.ports.map(({ name }) => name);
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = server!;
    expect([livenessProbe, readinessProbe, startupProbe].map((one) => one!.httpGet.path)).toEqual([
      '/_stillage/live',
      '/_stillage/health',
      '/_stillage/live',
    ]);
    for (const one of [livenessProbe, readinessProbe, startupProbe]) expect(ports).toContain(one!.httpGet.port);
    for (const { targetPort } of only('Service').spec.ports) expect(ports).toContain(targetPort);
    expect(server!.ports[0]!.containerPort).toBe(9000);
    const wait = Number(lifecycle!.preStop.exec.command[1]);
    expect(deployment.terminationGracePeriodSeconds).toBeGreaterThan(30 + wait);
    expect(only('PodDisruptionBudget').spec.maxUnavailable).toBeLessThan(only('Deployment').spec.replicas);
  });
});
