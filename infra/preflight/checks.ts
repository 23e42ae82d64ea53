import { originCertificateOf, type Settings, zonesOf } from '../settings.ts';

/** The checked properties of a certificate. */
export interface FoundCertificate {
  readonly isIssued: boolean;
  /** Its host names; some begin with `*.`. */
  readonly names: readonly string[];
}

/** Reads the properties of an account that a preflight checks. Changes nothing. Each method rejects if IAM denies the call. */
export interface AccountReader {
  /** Returns the account id of the credentials. */
  accountId(): Promise<string>;
  hasRole(name: string): Promise<boolean>;
  /** Returns a quota in the region of the deployment: that of the account, or else the default. */
  quota(service: string, code: string): Promise<number>;
  /** Returns the version of the CDK's bootstrap stack in the region of the deployment; undefined if there is none. */
  bootstrapVersion(): Promise<number | undefined>;
  /** Returns the ids of the zones available to the account in the region of the deployment. */
  zoneIds(): Promise<readonly string[]>;
  /** Returns a certificate, read in its own region. */
  certificate(arn: string): Promise<FoundCertificate | undefined>;
  /** Returns the name of a hosted zone without the trailing dot. */
  hostedZone(id: string): Promise<string | undefined>;
}

/** The outcome of a check. */
export interface Finding {
  readonly check: string;
  /** `unknown`: the check itself failed. */
  readonly state: 'ok' | 'missing' | 'unknown';
  readonly found: string;
  /** The command or action that helps. */
  readonly do?: string;
}

interface Check {
  readonly check: string;
  readonly ask: (account: AccountReader) => Promise<Omit<Finding, 'check'>>;
}

const ok = (found: string): Omit<Finding, 'check'> => ({ state: 'ok', found });
const missing = (found: string, todo: string): Omit<Finding, 'check'> => ({ state: 'missing', found, do: todo });

/** Returns whether an account is ready for a deployment with these settings, check by check. Changes nothing. */
export async function preflight(settings: Settings, account: AccountReader): Promise<readonly Finding[]> {
  return Promise.all(
    checksOf(settings).map(async ({ check, ask }): Promise<Finding> => {
      try {
        return { check, ...(await ask(account)) };
      } catch (error) {
        const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        return {
          check,
          state: 'unknown',
          found: `the check failed: ${reason}`,
          do: 'allow the call in IAM, or check by hand',
        };
      }
    }),
  );
}

function checksOf(settings: Settings): readonly Check[] {
  const byteLane = settings.byteLane === 'fargate';
  const { certificate, hostedZone, domain } = settings;
  const originCertificate = originCertificateOf(settings);
  return [
    accountCheck(settings),
    bootstrapCheck(settings),
    concurrencyCheck(settings),
    ...(byteLane ? [...serviceRoles.map(roleCheck), processorsCheck(settings), zonesCheck(settings)] : []),
    ...(certificate ? [certificateCheck('certificate', certificate, settings)] : []),
    ...(byteLane && originCertificate && originCertificate !== certificate
      ? [certificateCheck('originCertificate', originCertificate, settings)]
      : []),
    ...(hostedZone && domain ? [hostedZoneCheck(hostedZone, domain)] : []),
  ];
}

function accountCheck({ account: expected }: Settings): Check {
  return {
    check: 'account',
    ask: async (account) => {
      const id = await account.accountId();
      return id === expected
        ? ok(id)
        : missing(
            `the credentials are for ${id}, the settings for ${expected}`,
            `-c account=${id}, or other credentials`,
          );
    },
  };
}

/** https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html. The templates of this version of the CDK require at least 6. */
const bootstrapNeeded = 6;

function bootstrapCheck({ account: id, region }: Settings): Check {
  return {
    check: 'CDK bootstrap',
    ask: async (account) => {
      const version = await account.bootstrapVersion();
      if (version !== undefined && version >= bootstrapNeeded) return ok(`version ${version} in ${region}`);
      const found = version === undefined ? `none in ${region}` : `version ${version} in ${region}, which is too old`;
      return missing(found, `npx cdk bootstrap aws://${id}/${region}`);
    },
  };
}

/**
 * AWS creates these roles with the first cluster, service or load balancer, which fails as the role is not available yet.
 * https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/818
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/using-service-linked-roles.html
 */
const serviceRoles = [
  { name: 'AWSServiceRoleForECS', service: 'ecs.amazonaws.com' },
  {
    name: 'AWSServiceRoleForApplicationAutoScaling_ECSService',
    service: 'ecs.application-autoscaling.amazonaws.com',
  },
  { name: 'AWSServiceRoleForElasticLoadBalancing', service: 'elasticloadbalancing.amazonaws.com' },
] as const;

function roleCheck({ name, service }: (typeof serviceRoles)[number]): Check {
  return {
    check: `role ${name}`,
    ask: async (account) =>
      (await account.hasRole(name))
        ? ok('exists')
        : missing('does not exist', `aws iam create-service-linked-role --aws-service-name ${service}`),
  };
}

/** New accounts may have 10: https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html#concurrency-quotas */
const concurrencyNeeded = 200;

function concurrencyCheck({ region }: Settings): Check {
  return quotaCheck({
    check: 'Lambda concurrency',
    quota: ['lambda', 'L-B99A9384'],
    needed: concurrencyNeeded,
    wanted: 1000,
    region,
  });
}

/** The quota counts vCPUs, and a deployment starts as many new servers as are running before it stops any. */
function processorsCheck({ region, byteLaneCpu, byteLaneMinimumTasks, byteLaneMaximumTasks }: Settings): Check {
  const processors = byteLaneCpu / 1024;
  return quotaCheck({
    check: 'Fargate vCPUs',
    quota: ['fargate', 'L-3032A538'],
    needed: 2 * byteLaneMinimumTasks * processors,
    wanted: Math.ceil(2 * byteLaneMaximumTasks * processors),
    region,
  });
}

interface WantedQuota {
  readonly check: string;
  readonly quota: readonly [service: string, code: string];
  readonly needed: number;
  readonly wanted: number;
  readonly region: string;
}

function quotaCheck({ check, quota: [service, code], needed, wanted, region }: WantedQuota): Check {
  return {
    check,
    ask: async (account) => {
      const value = await account.quota(service, code);
      if (value >= needed) return ok(`${value}; a deployment needs ${needed}, and ${wanted} under full load`);
      return missing(
        `${value}; a deployment needs ${needed}`,
        `aws service-quotas request-service-quota-increase --region ${region} --service-code ${service} --quota-code ${code} --desired-value ${wanted}`,
      );
    },
  };
}

function zonesCheck(settings: Settings): Check {
  return {
    check: 'zones',
    ask: async (account) => {
      const wanted = zonesOf(settings);
      const available = await account.zoneIds();
      const absent = wanted.filter((id) => !available.includes(id));
      if (absent.length === 0) return ok(wanted.join(', '));
      return missing(
        `the account has no zone ${absent.join(', ')}`,
        `-c zones=<two or three of ${available.join(', ')}>, except those that docs/cloud.md excludes`,
      );
    },
  };
}

function certificateCheck(setting: string, arn: string, { domain, websiteDomain }: Settings): Check {
  const region = arn.split(':')[3]!;
  const wanted = [domain, domain && `*.${domain}`, websiteDomain && `*.${websiteDomain}`].filter(
    (name) => name !== undefined,
  );
  return {
    check: setting,
    ask: async (account) => {
      const certificate = await account.certificate(arn);
      const request = `aws acm request-certificate --region ${region} --validation-method DNS --domain-name ${wanted[0]} --subject-alternative-names ${wanted.slice(1).join(' ')}`;
      if (certificate === undefined) return missing(`${arn} does not exist`, request);
      if (!certificate.isIssued) {
        return missing(
          'is not issued',
          `create the DNS records that aws acm describe-certificate --region ${region} shows`,
        );
      }
      const absent = wanted.filter((name) => !certificate.names.includes(name));
      return absent.length === 0
        ? ok(`covers ${wanted.join(', ')}`)
        : missing(`does not cover ${absent.join(', ')}`, request);
    },
  };
}

function hostedZoneCheck(id: string, domain: string): Check {
  return {
    check: 'hosted zone',
    ask: async (account) => {
      const name = await account.hostedZone(id);
      if (name === undefined)
        return missing(`${id} does not exist`, `aws route53 list-hosted-zones-by-name --dns-name ${domain}`);
      const isOf = domain === name || domain.endsWith(`.${name}`);
      return isOf
        ? ok(name)
        : missing(
            `${id} is the zone of ${name}, which does not contain ${domain}`,
            `-c hostedZone=<id of the zone that contains ${domain}>`,
          );
    },
  };
}
