// Passes the calls of the app to the client, and the events of the client to the app.
#import <React/RCTBridgeModule.h>
#import <React/RCTEventEmitter.h>
#import <React/RCTReloadCommand.h>

// The Swift class. The name of its header depends on how pods are linked.
@interface LaunchwayReactNative : NSObject
+ (void)call:(NSString *)method
    arguments:(NSString *)arguments
      resolve:(void (^)(NSString *json))resolve
       reject:(void (^)(NSString *code, NSString *message))reject;
+ (void)listen:(id)module receive:(void (^)(NSString *name, NSString *payload))receive;
+ (void)stopListening:(id)module;
+ (void)reloadBy:(void (^)(void))reload;
@end

@interface LaunchwayModule : RCTEventEmitter <RCTBridgeModule>
@end

@implementation LaunchwayModule

// The event that carries all events.
static NSString *const LaunchwayEvent = @"launchway";

RCT_EXPORT_MODULE(Launchway)

+ (BOOL)requiresMainQueueSetup
{
  return YES;
}

- (instancetype)init
{
  if (self = [super init]) {
    [LaunchwayReactNative reloadBy:^{
      RCTTriggerReloadCommandListeners(@"Launchway");
    }];
  }
  return self;
}

- (NSArray<NSString *> *)supportedEvents
{
  return @[ LaunchwayEvent ];
}

RCT_EXPORT_METHOD(call
                  : (NSString *)method arguments
                  : (NSString *)arguments resolve
                  : (RCTPromiseResolveBlock)resolve reject
                  : (RCTPromiseRejectBlock)reject)
{
  [LaunchwayReactNative call:method
      arguments:arguments
      resolve:^(NSString *json) {
        resolve(json);
      }
      reject:^(NSString *code, NSString *message) {
        reject(code, message, nil);
      }];
}

- (void)startObserving
{
  __weak LaunchwayModule *weakSelf = self;
  [LaunchwayReactNative listen:self
                       receive:^(NSString *name, NSString *payload) {
                         [weakSelf sendEventWithName:LaunchwayEvent body:@{@"name" : name, @"payload" : payload}];
                       }];
}

- (void)stopObserving
{
  [LaunchwayReactNative stopListening:self];
}

@end
