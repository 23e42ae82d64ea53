import { originCertificateOf, type Settings, zonesOf } from '../settings.ts';
import type { AccountReader } from './account.ts';

/** What came of a check. */
export interface Finding {
  readonly check: string;
  /** `unknown`: it could not be asked, and so may be either. */
  readonly state: 'ok' | 'missing' | 'unknown';
  readonly found: string;
  /** What to do about it. */
  readonly do?: string;
}

interface Check {
  readonly check: string;
  readonly ask: (account: AccountReader) => Promise<Omit<Finding, 'check'>>;
}

const ok = (found: string): Omit<Finding, 'check'> => ({ state: 'ok', found });
const missing = (found: string, todo: string): Omit<Finding, 'check'> => ({ state: 'missing', found, do: todo });

/** Checks whether an account is ready for a deployment with these settings. Changes nothing. */
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
          found: `could not be asked: ${reason}`,
          do: 'allow the call, or check it by hand',
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

/** https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html. The templates of this version of the CDK ask for 6 at least. */
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
 * A first cluster, service or load balancer makes its role, and fails for want of it meanwhile.
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
        ? ok('is there')
        : missing('is not there', `aws iam create-service-linked-role --aws-service-name ${service}`),
  };
}

/** Of a new account it can be 10: https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html#concurrency-quotas */
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

/** Fargate counts processors, and a deployment starts as many servers as there are before it stops any. */
function processorsCheck({ region, byteLaneCpu, byteLaneMinimumTasks, byteLaneMaximumTasks }: Settings): Check {
  const processors = byteLaneCpu / 1024;
  return quotaCheck({
    check: 'Fargate processors',
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
      if (value >= needed) return ok(`${value}; ${needed} are needed to begin with, ${wanted} under full load`);
      return missing(
        `${value}, and ${needed} are needed`,
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
        `the account has no ${absent.join(', ')}`,
        `-c zones=<two of ${available.join(', ')}>, but none that docs/cloud.md excludes`,
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
      if (certificate === undefined) return missing(`there is no ${arn}`, request);
      if (!certificate.isIssued) {
        return missing(
          'is not issued',
          `enter the records of aws acm describe-certificate --region ${region} into the DNS`,
        );
      }
      const absent = wanted.filter((name) => !certificate.names.includes(name));
      return absent.length === 0
        ? ok(`is for ${wanted.join(', ')}`)
        : missing(`is not for ${absent.join(', ')}`, request);
    },
  };
}

function hostedZoneCheck(id: string, domain: string): Check {
  return {
    check: 'hosted zone',
    ask: async (account) => {
      const name = await account.hostedZone(id);
      if (name === undefined)
        return missing(`there is no ${id}`, `aws route53 list-hosted-zones-by-name --dns-name ${domain}`);
      const isOf = domain === name || domain.endsWith(`.${name}`);
      return isOf
        ? ok(name)
        : missing(
            `${id} is the zone of ${name}, which ${domain} is not in`,
            `-c hostedZone=<id>, of the zone that has ${domain}`,
          );
    },
  };
}
