// The order in which credentials are searched, as AWS's command line has it:
//
//   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   2. web identity: AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, or these of the profile
//   3. single sign-on of the profile
//   4. the profile's keys in the file of credentials
//   5. credential_process of the profile
//   6. the profile's keys in the config file
//   7. the container's role
//   8. the instance metadata service, only if STOKER_S3_IMDS asks for it
//
// The first that is there counts: if it fails, that is an Error, and none after it is asked.
#pragma once

#include <memory>
#include <string>

#include "stoker/store/aws_credentials.h"
#include "stoker/store/detail/aws_profile.h"

namespace stoker::detail {

// Nothing where there are no credentials. Asks nobody yet. Throws Error where what is there is half
// or not supported. `region` is that of the requests.
[[nodiscard]] std::shared_ptr<const AwsCredentialSource> find_credentials(
    const AwsProfile& profile, const std::string& region);

}  // namespace stoker::detail
