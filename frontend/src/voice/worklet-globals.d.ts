// What a browser offers to audio worklets, of which TypeScript's library for pages knows nothing.

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

declare const sampleRate: number;
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;
