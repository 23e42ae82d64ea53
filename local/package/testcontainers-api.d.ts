/*
 * What of testcontainers is used here. It is no dependency of this repository, whose tests have no engine for containers, and would more than double
 * what is installed; test/package/testcontainers.test.ts compiles and runs the module with the real one.
 */
declare module 'testcontainers' {
  export interface WaitStrategy {
    withStartupTimeout(milliseconds: number): this;
  }
  export const Wait: {
    forHttp(path: string, port: number): WaitStrategy;
  };
  export interface StartedTestContainer {
    getHost(): string;
    getMappedPort(port: number): number;
    stop(): Promise<unknown>;
  }
  export class GenericContainer {
    constructor(image: string);
    withExposedPorts(...ports: number[]): this;
    withEnvironment(environment: Record<string, string>): this;
    withWaitStrategy(strategy: WaitStrategy): this;
    start(): Promise<StartedTestContainer>;
  }
  export class AbstractStartedContainer implements StartedTestContainer {
    constructor(started: StartedTestContainer);
    getHost(): string;
    getMappedPort(port: number): number;
    stop(): Promise<unknown>;
  }
}
