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
